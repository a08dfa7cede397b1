// Bring-up, CPU numbers, inter-processor interrupts and calls.
#include <array>
#include <atomic>

#include "arch/cpu.hpp"
#include "arch/interrupts.hpp"
#include "arch/timer.hpp"
#include "tests/kernel/selftest.hpp"
#include "tests/kernel/support.hpp"
#include "tests/kernel/waiting.hpp"

namespace atl {
namespace {

ATOLL_SELFTEST(case01_every_possible_cpu_is_online) {
  for (unsigned cpu = 0; cpu < cpu_map().count(); ++cpu) {
    EXPECT_THAT(online_cpus().contains(cpu), "CPU {} (MPIDR {:#x}): {}", cpu, cpu_map().mpidrs()[cpu],
                cpu_state(cpu));
  }
}

ATOLL_SELFTEST(case03_numbers_follow_the_device_tree) {
  on_every_cpu([](unsigned cpu) {
    const u64 own = arch::Affinity::of_mpidr(arch::mpidr()).value();
    EXPECT_THAT(own == cpu_map().mpidrs()[cpu], "CPU {} has MPIDR {:#x}, the map says {:#x}", cpu, own,
                cpu_map().mpidrs()[cpu]);
  });
}

std::atomic<u64> g_received;
void count_ipi() { g_received.fetch_add(1, std::memory_order_relaxed); }

/// SGIs of one number that are pending together merge into one, so the CPUs send in turn: each to all others,
/// by cluster, and the next only when the last has been received by all.
ATOLL_SELFTEST(case02_every_cpu_interrupts_every_other) {
  const u64 others = online_cpus().count() - 1;
  arch::ipi_set_handler(arch::Ipi::reschedule, count_ipi);
  g_received.store(0, std::memory_order_relaxed);
  u64 expected = 0;
  online_cpus().for_each([&](unsigned sender) {
    call_on(CpuSet::of(sender), [&] {
      CpuSet targets = online_cpus();
      targets.remove(sender);
      arch::ipi_send(arch::Ipi::reschedule, targets);
    });
    expected += others;
    // The senders' writes and the receivers' interrupts are the machine's: give it time, but not for ever.
    look_until([&] { return g_received.load(std::memory_order_relaxed) >= expected; });
  });
  EXPECT_EQ(g_received.load(), others * (others + 1));
  arch::ipi_set_handler(arch::Ipi::reschedule, nullptr);
}

/// Two CPUs that wait for each other's calls: both must serve while they wait. They meet before each call, so that
/// neither call is served before the other is made.
struct MutualCalls {
  static constexpr unsigned kRounds = 100;

  std::atomic<unsigned> met = 0;
  std::atomic<unsigned> done = 0;
  std::array<unsigned, 2> cpus{};
};
// Static: under the fault that this test is for, the two never come back from using it.
constinit MutualCalls g_mutual;

void call_the_other(void* target) {
  for (unsigned round = 1; round <= MutualCalls::kRounds; ++round) {
    g_mutual.met.fetch_add(1);
    const u64 deadline = arch::timer_ticks() + arch::ns_to_ticks(kTestPatienceNs);
    while (g_mutual.met.load() < 2 * round) {
      if (arch::timer_ticks() > deadline) return;
    }
    call_on(CpuSet::of(*static_cast<const unsigned*>(target)), [] {});
  }
  g_mutual.done.fetch_add(1, std::memory_order_release);
}

ATOLL_SELFTEST(case44_waiting_cpus_serve_calls, "needs three CPUs") {
  if (online_cpus().count() < 3) return selftest_skip("needs three CPUs");
  auto& [one, two] = g_mutual.cpus;
  one = online_after(0);
  two = online_after(one);
  g_mutual.met.store(0);
  g_mutual.done.store(0);
  run_when_idle(one, call_the_other, &two);
  run_when_idle(two, call_the_other, &one);
  const bool both = look_until([] { return g_mutual.done.load(std::memory_order_acquire) == 2; });
  EXPECT_THAT(both, "CPUs {} and {} wait for each other's calls", one, two);
}

ATOLL_SELFTEST(calls_run_once_on_every_target) {
  static PerCpuResults<u32> runs;
  for (int round = 0; round < 3; ++round) on_every_cpu([](unsigned cpu) { ++runs[cpu]; });
  online_cpus().for_each([](unsigned cpu) { EXPECT_EQ(runs[cpu], 3u); });
}

ATOLL_SELFTEST(timer_interrupt_ends_a_wait_in_time) {
  const u64 start = arch::timer_ticks();
  const u64 wanted = arch::ns_to_ticks(3'000'000);
  const bool held = wait_until([] { return false; }, start + wanted);
  EXPECT(!held);
  EXPECT(arch::timer_ticks() - start >= wanted);
}

}  // namespace
}  // namespace atl
