// Bring-up, CPU numbers, inter-processor interrupts and calls.
#include <atomic>

#include "arch/cpu.hpp"
#include "arch/firmware.hpp"
#include "arch/interrupts.hpp"
#include "arch/timer.hpp"
#include "kernel/panic.hpp"
#include "percpu/migration.hpp"
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

/// An HVC ends in an exception, in our own EL2 or in a hypervisor, and comes back from each. An SMC may not: some
/// machines have an EL3 without firmware. Without PSCI nothing is asked at all, and nobody counted on.
ATOLL_SELFTEST(case06_hvc_is_answered_only_by_firmware) {
  const arch::PsciConduit conduit = arch::firmware_conduit();
  if (conduit == arch::PsciConduit::none) {
    EXPECT_EQ(cpu_map().count(), 1u);
    return;
  }
  on_every_cpu([&](unsigned cpu) {
    EXPECT_THAT(arch::psci_version(arch::PsciConduit::hvc).has_value() == (conduit == arch::PsciConduit::hvc),
                "CPU {}: HVC answers as PSCI: {}, the conduit is {}", cpu, conduit != arch::PsciConduit::hvc,
                to_string(conduit));
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

/// Whether a CPU serves calls while it waits for its own: the boot CPU, which it calls, holds it up until another
/// CPU's call to it has been served, or its patience ends.
struct CallToWaiter {
  unsigned waiter = 0;
  std::atomic<bool> waits = false;
  std::atomic<bool> served = false;
  std::atomic<bool> served_in_time = false;
  std::atomic<unsigned> done = 0;
};
constinit CallToWaiter g_call;

/// For interrupt context, where look_until may not wait; and shorter, so that what it holds up ends in time.
template <class Condition>
bool spin_until(Condition condition) {
  const u64 deadline = arch::timer_ticks() + arch::ns_to_ticks(kTestPatienceNs / 2);
  while (!condition()) {
    if (arch::timer_ticks() >= deadline) return false;
    arch::relax();
  }
  return true;
}
bool spin_until(const std::atomic<bool>& flag) {
  return spin_until([&] { return flag.load(std::memory_order_acquire); });
}

void wait_for_boot_cpu(void*) {
  call_on(CpuSet::of(0), [] {
    g_call.waits.store(true, std::memory_order_release);
    g_call.served_in_time.store(spin_until(g_call.served), std::memory_order_relaxed);
  });
  g_call.done.fetch_add(1, std::memory_order_release);
}

void call_the_waiter(void*) {
  if (spin_until(g_call.waits)) {
    call_on(CpuSet::of(g_call.waiter), [] { g_call.served.store(true, std::memory_order_release); });
  }
  g_call.done.fetch_add(1, std::memory_order_release);
}

ATOLL_SELFTEST(case44_waiting_cpus_serve_calls, "needs three CPUs") {
  if (online_cpus().count() < 3) return selftest_skip("needs three CPUs");
  g_call.waiter = online_after(0);
  for (std::atomic<bool>* flag : {&g_call.waits, &g_call.served, &g_call.served_in_time}) flag->store(false);
  g_call.done.store(0);
  // In this order: the waiter's call may hold this CPU up at once.
  run_when_idle(online_after(g_call.waiter), call_the_waiter, nullptr);
  run_when_idle(g_call.waiter, wait_for_boot_cpu, nullptr);
  const bool ended = look_until([] { return g_call.done.load(std::memory_order_acquire) == 2; });
  EXPECT_THAT(g_call.served_in_time.load(), "CPU {} does not serve calls while it waits for its own",
              g_call.waiter);
  EXPECT_THAT(ended, "calls between three CPUs do not end");
}

constinit PerCpuResults<std::atomic<u32>> g_nmis{};

/// The one NMI there is stops a CPU in a panic; here it counts. Each CPU sends it to itself, in an interrupt's handler
/// and with IRQs masked once more. That CPUs take another one's is for the panic boots to show.
ATOLL_SELFTEST(cpus_with_irqs_masked_take_an_nmi, "no NMI") {
  if (!arch::has_nmi()) return selftest_skip("no NMI");
  online_cpus().for_each([](unsigned cpu) { g_nmis[cpu].store(0, std::memory_order_relaxed); });
  arch::ipi_set_handler(arch::Ipi::stop,
                        [] { g_nmis[percpu::this_cpu()].fetch_add(1, std::memory_order_relaxed); });
  on_every_cpu([](unsigned cpu) {
    const percpu::IrqsOff off;
    arch::ipi_send_one(arch::Ipi::stop, cpu);
    const bool came = spin_until([cpu] { return g_nmis[cpu].load(std::memory_order_relaxed) != 0; });
    EXPECT_THAT(came, "CPU {} masks IRQs and does not take an NMI", cpu);
  });
  panic_enable_stop();
  online_cpus().for_each([](unsigned cpu) { EXPECT_EQ(g_nmis[cpu].load(), 1u); });
}

ATOLL_SELFTEST(calls_run_once_on_every_target) {
  static PerCpuResults<u32> runs;
  runs.fill(0);
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
