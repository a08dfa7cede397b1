// Bring-up, CPU numbers, inter-processor interrupts and calls.
#include <atomic>

#include "arch/cpu.hpp"
#include "arch/interrupts.hpp"
#include "arch/timer.hpp"
#include "kernel/wait.hpp"
#include "tests/kernel/selftest.hpp"
#include "tests/kernel/support.hpp"

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
    const u64 deadline = arch::timer_ticks() + arch::ns_to_ticks(10'000'000'000);
    while (g_received.load(std::memory_order_relaxed) < expected && arch::timer_ticks() < deadline) {
      wait_until([] { return false; }, arch::timer_ticks() + arch::ns_to_ticks(200'000));
    }
  });
  EXPECT_EQ(g_received.load(), others * (others + 1));
  arch::ipi_set_handler(arch::Ipi::reschedule, nullptr);
}

/// Two CPUs that wait for each other's calls: both must serve while they wait.
struct MutualCall {
  unsigned target;
  std::atomic<unsigned>* done;
};

void call_the_other(void* argument) {
  const auto& mutual = *static_cast<const MutualCall*>(argument);
  for (int i = 0; i < 10; ++i) call_on(CpuSet::of(mutual.target), [] {});
  mutual.done->fetch_add(1, std::memory_order_release);
}

ATOLL_SELFTEST(case44_waiting_cpus_serve_calls, "needs three CPUs") {
  if (online_cpus().count() < 3) return selftest_skip("needs three CPUs");
  // Static: under the fault that this test is for, the two never come back from using them.
  static std::atomic<unsigned> done;
  static MutualCall one{2, &done};
  static MutualCall two{1, &done};
  done.store(0);
  run_when_idle(1, call_the_other, &one);
  run_when_idle(2, call_the_other, &two);
  const u64 deadline = arch::timer_ticks() + arch::ns_to_ticks(10'000'000'000);
  while (done.load(std::memory_order_acquire) < 2 && arch::timer_ticks() < deadline) {
    wait_until([] { return false; }, arch::timer_ticks() + arch::ns_to_ticks(1'000'000));
  }
  EXPECT_THAT(done.load() == 2, "CPUs 1 and 2 wait for each other's calls");
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
