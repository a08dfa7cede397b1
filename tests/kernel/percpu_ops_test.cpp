// Per-CPU operations on the machine: every width on every CPU, what patching left in the code, interrupts.
#include <array>
#include <atomic>

#include "arch/cpu.hpp"
#include "arch/timer.hpp"
#include "percpu/lse_patch.hpp"
#include "percpu/percpu.hpp"
#include "tests/kernel/selftest.hpp"
#include "tests/kernel/support.hpp"
#include "tests/kernel/waiting.hpp"

extern "C" const atl::percpu::LsePatch __lse_patches_start[], __lse_patches_end[];

// percpu/probes.cpp, called with whole registers.
using PointerToWord = atl::percpu::PerCpuPtr<atl::u64>;
extern "C" void probe_cmpxchg_8_pointer(PointerToWord p, atl::u64 expected, atl::u64 desired);
extern "C" void probe_cmpxchg_16_pointer(PointerToWord p, atl::u64 expected, atl::u64 desired);

namespace atl {
namespace {

using percpu::IrqsOff;
using percpu::PerCpu;
using percpu::PerCpuPtr;

/// A word between canaries, aligned so that a wider access to it does not fault.
template <class W>
struct alignas(8) Fenced {
  std::array<W, 2> before;
  W word;
  std::array<W, 5> after;
};

ATOLL_PER_CPU PerCpu<Fenced<u8>> fenced_8;
ATOLL_PER_CPU PerCpu<Fenced<u16>> fenced_16;
ATOLL_PER_CPU PerCpu<Fenced<u32>> fenced_32;
ATOLL_PER_CPU PerCpu<Fenced<u64>> fenced_64;
ATOLL_PER_CPU PerCpu<u128> pair;
ATOLL_PER_CPU PerCpu<u64> counter;

/// One variable's checks on the executing CPU, IRQs masked. What an operation did is seen by the global alias.
template <class W>
class WidthCheck {
 public:
  WidthCheck(const PerCpu<Fenced<W>>& variable, unsigned cpu, const IrqsOff& token)
      : word_(variable.field(&Fenced<W>::word)), copy_(variable.here(token)), cpu_(cpu) {}

  void run() {
    constexpr W kOnes = static_cast<W>(~W{0});
    set(kOnes);
    expect("read", word_.read() == kOnes, kOnes);
    word_.write(7);
    expect("write", true, 7);
    set(kOnes);
    word_.add(2);
    expect("add", true, 1);
    word_.sub(3);
    expect("sub", true, static_cast<W>(kOnes - 1));
    expect("add_return", word_.add_return(3) == 1, 1);
    set(kOnes);
    word_.and_bits(0x5a);
    expect("and", true, 0x5a);
    word_.or_bits(0x05);
    expect("or", true, 0x5f);
    expect("exchange", word_.exchange(kOnes) == 0x5f, kOnes);
    expect("compare_exchange", word_.compare_exchange(kOnes, 3) == kOnes, 3);
    expect("failed compare_exchange", word_.compare_exchange(kOnes, 9) == 3, 3);
    W expected = 4;
    expect("failed try_compare_exchange", !word_.try_compare_exchange(expected, 5) && expected == 3, 3);
    expect("try_compare_exchange", word_.try_compare_exchange(expected, 5), 5);
  }

 private:
  static constexpr W kCanary = static_cast<W>(0xa5c3'5a3c'a5c3'5a3c);

  void set(W value) {
    copy_.before.fill(kCanary);
    copy_.after.fill(kCanary);
    copy_.word = value;
  }
  void expect(const char* operation, bool answered, W value) {
    EXPECT_THAT(answered, "{}-bit {} on CPU {} gave a wrong answer", 8 * sizeof(W), operation, cpu_);
    EXPECT_THAT(copy_.word == value, "{}-bit {} on CPU {} left {:#x}, not {:#x}", 8 * sizeof(W), operation,
                cpu_, copy_.word, value);
    bool intact = true;
    for (const W canary : copy_.before) intact = intact && canary == kCanary;
    for (const W canary : copy_.after) intact = intact && canary == kCanary;
    EXPECT_THAT(intact, "{}-bit {} on CPU {} wrote beside its word", 8 * sizeof(W), operation, cpu_);
  }

  PerCpuPtr<W> word_;
  Fenced<W>& copy_;
  unsigned cpu_;
};

ATOLL_SELFTEST(percpu_operations_keep_to_their_word) {
  on_every_cpu([](unsigned cpu) {
    const IrqsOff here;
    WidthCheck(fenced_8, cpu, here).run();
    WidthCheck(fenced_16, cpu, here).run();
    WidthCheck(fenced_32, cpu, here).run();
    WidthCheck(fenced_64, cpu, here).run();
  });
}

ATOLL_SELFTEST(percpu_pairs_compare_both_halves) {
  on_every_cpu([](unsigned cpu) {
    const IrqsOff here;
    const u128 old = u128{0x1111} << 64 | 0x2222;
    pair.here(here) = old;
    const bool kept = pair.compare_exchange(old ^ 1, 5) == old &&
                      pair.compare_exchange(old ^ u128{1} << 64, 5) == old && pair.here(here) == old;
    EXPECT_THAT(kept, "128-bit cmpxchg on CPU {} took words that differ for equal", cpu);
    const bool stored = pair.compare_exchange(old, 5) == old && pair.here(here) == 5;
    EXPECT_THAT(stored, "128-bit cmpxchg on CPU {} did not store", cpu);
  });
}

/// The calling convention leaves the upper bits of narrow arguments undefined, so here they are set.
ATOLL_SELFTEST(narrow_compare_ignores_upper_register_bits) {
  counter.write(0x1234);
  probe_cmpxchg_16_pointer(counter.pointer(), 0xdead'beef'1234, 0x5678);
  EXPECT_THAT(counter.read() == 0x5678, "16-bit cmpxchg compared the register's upper bits");
  counter.write(0x5678);
  probe_cmpxchg_8_pointer(counter.pointer(), 0xbeef'0078, 0x9a);
  EXPECT_THAT(counter.read() == 0x569a, "8-bit cmpxchg compared the register's upper bits");
}

ATOLL_SELFTEST(case26_each_cpu_changes_its_own_copy) {
  online_cpus().for_each([](unsigned cpu) { counter.on(cpu) = 0; });
  for (int round = 0; round < 3; ++round) {
    on_every_cpu([](unsigned cpu) {
      for (unsigned i = 0; i < 10; ++i) counter.add(cpu + 1);
    });
  }
  online_cpus().for_each([](unsigned cpu) {
    EXPECT_THAT(counter.on(cpu) == 30 * (u64{cpu} + 1), "CPU {} counted {} of {}", cpu, counter.on(cpu),
                30 * (cpu + 1));
  });
}

ATOLL_SELFTEST(case26_references_are_global_aliases) {
  on_every_cpu([](unsigned cpu) {
    const IrqsOff here;
    u64& mine = counter.here(here);
    EXPECT_THAT(!percpu::is_local_address(&mine), "here() gave a local address");
    EXPECT_THAT(&mine == &counter.on(cpu), "here() on CPU {} is not its copy", cpu);
    // Both names are the same memory, and the compiler must believe it.
    mine = 1;
    counter.add(1);
    mine += 1;
    EXPECT_THAT(counter.read() == 3, "CPU {}: the two aliases of a variable disagree", cpu);
  });
}

void add_from_another_cpu(void* done) {
  for (int i = 0; i < 200; ++i) call_on(CpuSet::of(0), [] { counter.add(1); });
  static_cast<std::atomic<bool>*>(done)->store(true, std::memory_order_release);
}

/// An interrupt handler changes the variable that its CPU is changing. Under TCG interrupts come between translation
/// blocks, so between operations; with QEMU's -singlestep, and on hardware, they also come inside the LL/SC loop.
ATOLL_SELFTEST(no_count_is_lost_to_interrupt_handlers, "needs two CPUs") {
  if (online_cpus().count() < 2) return selftest_skip("needs two CPUs");
  static std::atomic<bool> done;
  done.store(false);
  counter.on(0) = 0;
  const unsigned other = online_after(0);
  run_when_idle(other, add_from_another_cpu, &done);
  const u64 deadline = arch::timer_ticks() + arch::ns_to_ticks(kTestPatienceNs);
  u64 own = 0;
  bool finished = false;
  while (!finished && (own % 256 != 0 || arch::timer_ticks() < deadline)) {
    counter.add(1);
    ++own;
    // Where vCPUs take turns on one host thread, this ends the turn.
    if (own % 64 == 0) arch::relax();
    finished = done.load(std::memory_order_acquire);
  }
  EXPECT_THAT(finished, "CPU {} does not get its calls served", other);
  if (finished) EXPECT_EQ(counter.on(0), own + 200);
}

/// Either every loop was replaced, and nothing of it is left, or none was.
ATOLL_SELFTEST(lse_patching_is_all_or_nothing) {
  constexpr u32 kNop = 0xd503201f;
  usize patched = 0;
  usize loops = 0;
  for (const percpu::LsePatch* patch = __lse_patches_start; patch != __lse_patches_end; ++patch) {
    const u32* code = pointer_to<const u32>(patch->original_range().start);
    const u32* replacement = pointer_to<const u32>(patch->replacement_range().start);
    if (code[0] != replacement[0]) {
      ++loops;
      continue;
    }
    ++patched;
    bool whole = true;
    for (usize i = 0; i < patch->original_bytes / sizeof(u32); ++i) {
      whole = whole && code[i] == (i < patch->replacement_bytes / sizeof(u32) ? replacement[i] : kNop);
    }
    EXPECT_THAT(whole, "the code at {} is patched in part", patch->original_range().start);
  }
  EXPECT_THAT(patched == 0 || loops == 0, "{} loops patched, {} left", patched, loops);
  EXPECT_THAT(patched == 0 || arch::read_cpu_features().lse, "patched on a CPU without FEAT_LSE");
}

std::atomic<unsigned> reschedules;

ATOLL_SELFTEST(preempt_request_is_served_when_enabled) {
  reschedules.store(0);
  percpu::set_preempt_hook([] { reschedules.fetch_add(1, std::memory_order_relaxed); });
  {
    const percpu::PreemptOff outer;
    percpu::request_reschedule();
    const percpu::PreemptOff inner;
    EXPECT_EQ(reschedules.load(), 0u);
  }
  percpu::set_preempt_hook(nullptr);
  EXPECT_THAT(reschedules.load() == 1, "preempt_enable did not serve the request");
}

}  // namespace
}  // namespace atl
