#include "percpu/spin_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "lib/panic.hpp"
#include "tests/host/support.hpp"

namespace atl::percpu {
namespace {

TEST(SpinLock, HolderHasIrqsMasked) {
  SpinLock lock;
  lock.lock();
  EXPECT_TRUE(arch::irqs_masked());
  lock.unlock();
  EXPECT_FALSE(arch::irqs_masked());
}

TEST(SpinLock, LeavesIrqsAsItFoundThem) {
  SpinLock outer, inner;
  outer.lock();
  inner.lock();
  inner.unlock();
  EXPECT_TRUE(arch::irqs_masked()) << "the outer lock is still held";
  outer.unlock();
  EXPECT_FALSE(arch::irqs_masked());

  arch::irq_disable();
  inner.lock();
  inner.unlock();
  EXPECT_TRUE(arch::irqs_masked());
}

TEST(SpinLock, GuardHoldsForItsScope) {
  SpinLock lock;
  {
    LockGuard guard(lock);
    EXPECT_TRUE(arch::irqs_masked());
  }
  EXPECT_FALSE(arch::irqs_masked());
  static_assert(!std::is_copy_constructible_v<LockGuard<SpinLock>>);
}

/// `threads` CPUs run `body` side by side.
template <class Body>
void on_cpus(unsigned threads, Body body) {
  std::vector<std::jthread> cpus;
  for (unsigned cpu = 0; cpu < threads; ++cpu) cpus.emplace_back([&, cpu] { body(cpu); });
}

TEST(SpinLock, OneHolderAtATime) {
  constexpr unsigned kCpus = 4, kTurns = 5000;
  SpinLock lock;
  u64 plain = 0;
  std::atomic<unsigned> inside = 0, overlaps = 0, wrong_masks = 0;
  on_cpus(kCpus, [&](unsigned cpu) {
    const bool masked = cpu % 2 == 1;
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      if (masked) arch::irq_disable();
      lock.lock();
      if (inside.fetch_add(1) != 0 || !arch::irqs_masked()) ++overlaps;
      plain = plain + 1;
      if (turn % 64 == 0) std::this_thread::yield();
      inside.fetch_sub(1);
      lock.unlock();
      // Each gets its own state back, not the one of whom it waited for.
      if (arch::irqs_masked() != masked) ++wrong_masks;
    }
  });
  EXPECT_EQ(overlaps, 0u);
  EXPECT_EQ(wrong_masks, 0u);
  EXPECT_EQ(plain, u64{kCpus} * kTurns);
}

TEST(SpinLock, AWaiterGetsTheLockOnceItIsFree) {
  SpinLock lock;
  std::atomic<bool> got = false;
  lock.lock();
  {
    const std::jthread waiter([&] {
      const LockGuard guard(lock);
      got = true;
    });
    std::this_thread::yield();
    EXPECT_FALSE(got);
    lock.unlock();
  }
  EXPECT_TRUE(got);
}

TEST(Guarded, PassesArgumentsAndResultsThrough) {
  Guarded<std::vector<int>> numbers(3u, 7);
  EXPECT_EQ(numbers.with([](auto& n) { return n.size(); }), 3u);
  int& first = numbers.with([](auto& n) -> int& { return n[0]; });
  first = 8;
  EXPECT_EQ(numbers.with([](auto& n) { return n[0]; }), 8);
}

TEST(Guarded, HoldsTheLockMeanwhile) {
  Guarded<int> number(0);
  EXPECT_TRUE(number.with([](int&) { return arch::irqs_masked(); }));
  EXPECT_FALSE(arch::irqs_masked());
}

TEST(Guarded, ReleasesWhenTheUserPanics) {
  Guarded<int> number(1);
  EXPECT_PANIC(number.with([](int&) { panic("inside"); }), "inside");
  EXPECT_FALSE(arch::irqs_masked());
  EXPECT_EQ(number.with([](int& n) { return n; }), 1);
}

TEST(Guarded, CountsUnderContention) {
  Guarded<u64> total(0u);
  on_cpus(3, [&](unsigned) {
    for (int turn = 0; turn < 3000; ++turn) total.with([](u64& t) { t = t + 1; });
  });
  EXPECT_EQ(total.with([](u64& t) { return t; }), 9000u);
}

}  // namespace
}  // namespace atl::percpu
