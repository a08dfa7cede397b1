#include "kernel/smp.hpp"

#include <algorithm>
#include <atomic>

#include "arch/cpu.hpp"
#include "arch/firmware.hpp"
#include "arch/interrupts.hpp"
#include "arch/mmu.hpp"
#include "arch/timer.hpp"
#include "arch/trap.hpp"
#include "kernel/boot_timeline.hpp"
#include "kernel/cpu_numbering.hpp"
#include "kernel/early_tables.hpp"
#include "kernel/print_sink.hpp"
#include "kernel/roll_call.hpp"
#include "kernel/secondary_boot.hpp"
#include "kernel/secondary_memory.hpp"
#include "kernel/smp_call.hpp"
#include "kernel/time.hpp"
#include "kernel/wait.hpp"
#include "lib/fault.hpp"
#include "lib/format.hpp"
#include "mm/kernel_tables.hpp"
#include "percpu/cpu_number.hpp"
#include "percpu/percpu.hpp"
#include "percpu/preempt.hpp"

extern "C" char secondary_entry[];

namespace atl {
namespace {

constinit arch::CpuMap g_map;
constinit RollCall g_roll_call;
constinit arch::CpuFeatures g_boot_features;
constinit std::array<SecondaryBoot, kMaxCpus> g_boot{};

/// How many CPUs have yet to move on; the last one wakes the boot CPU.
///
/// It does so without asking whether the boot CPU sleeps: "store my state, then load its" against "store that I
/// sleep, then load the states" would need both pairs in order, on both sides. Every state is stored before its count,
/// and the count before the SGI. So the boot CPU, whose look at the states came too early for one of them, has this
/// SGI pending from then on: WFI does not begin, or ends.
///
/// A CPU that parks does not count: it may be unable to send. The boot CPU sees it at its next look.
class Countdown {
 public:
  void start(unsigned cpus) { left_.store(cpus, std::memory_order_relaxed); }
  void count() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) arch::ipi_send_one(arch::Ipi::wake, 0);
  }

 private:
  std::atomic<unsigned> left_ = 0;
};

/// Two of them, so that a CPU that arrived at the last moment is not taken for one that answered.
constinit Countdown g_arrivals;
constinit Countdown g_answers;

/// Boot CPU: sleeps until no CPU is in `state` or its patience ends.
void wait_while_any_is(CpuState state) {
  constexpr u64 kLookNs = 100'000'000;
  const auto none = [&] { return g_roll_call.in(state).empty(); };
  unsigned before = 0;
  for (u64 waited = 0; waited < patience_ns(g_map.count()); waited += kLookNs) {
    if (wait_until(none, arch::timer_ticks() + arch::ns_to_ticks(kLookNs))) return;
    const unsigned left = g_roll_call.in(state).count();
    if (left != before) waited = 0;
    before = left;
  }
}

/// The last of a CPU that does not join, its reason noted.
[[noreturn]] void park(unsigned cpu, CpuState reason) {
  g_roll_call.move(cpu, CpuState::starting, reason);
  arch::halt();
}

void answer_ping() {
  const unsigned cpu = percpu::this_cpu();
  if constexpr (kFault == Fault::ping_unanswered) {
    if (cpu == g_map.count() - 1) return;
  }
  // Given up: who is online is settled.
  if (!g_roll_call.move(cpu, CpuState::arrived, CpuState::online)) arch::halt();
  g_answers.count();
}

void prepare_boot_record(unsigned cpu) {
  SecondaryBoot& boot = g_boot[cpu];
  boot.identity_root = early_roots.identity_root;
  boot.own_root = mm::kernel_roots().root_of(cpu);
  boot.tcr = early_roots.tcr;
  boot.stack_top = idle_stack_top(cpu).value();
  boot.percpu_offset = mm::KernelLayout::percpu_offset(cpu);
  boot.cpu = cpu;
  boot.status = SecondaryStatus::starting;
}

/// CPU_ON, once: QEMU 7.2 resets a CPU that is started a second time. So a CPU that firmware says is on already, or
/// on its way, is not asked again; it comes or it does not.
Result<> start(unsigned cpu) {
  if constexpr (kFault == Fault::cpu_on_lies) {
    if (cpu == g_map.count() - 1) return {};
  }
  const Result<> result = arch::cpu_on(g_map.mpidrs()[cpu], arch::image_to_phys(secondary_entry),
                                       arch::image_to_phys(&g_boot[cpu]).value());
  if (!result && result.error() == Error::already_exists) return {};
  return result;
}

void start_all(unsigned count) {
  for (unsigned cpu = 1; cpu < count; ++cpu) {
    prepare_boot_record(cpu);
    g_roll_call.move(cpu, CpuState::off, CpuState::starting);
  }
  arch::clean_to_poc({address_of(g_boot.data()), count * sizeof(SecondaryBoot)});
  g_arrivals.start(count - 1);
  for (unsigned cpu = 1; cpu < count; ++cpu) {
    const Result<> result = start(cpu);
    if (result) continue;
    print("smp: CPU {} (MPIDR {:#x}): CPU_ON: {}\n", cpu, g_map.mpidrs()[cpu],
          to_string(result.error().error));
    g_roll_call.move(cpu, CpuState::starting, CpuState::refused);
    g_arrivals.count();
  }
}

/// A CPU without the granule has only its boot record to say so in, with its MMU off: look at memory, not at a line
/// cached before.
void find_cpus_without_granule() {
  g_roll_call.in(CpuState::starting).for_each([](unsigned cpu) {
    arch::clean_to_poc({address_of(&g_boot[cpu]), sizeof(SecondaryBoot)});
    if (g_boot[cpu].status == SecondaryStatus::no_granule) {
      g_roll_call.move(cpu, CpuState::starting, CpuState::no_granule);
    }
  });
}

void ping_arrived() {
  const CpuSet arrived = g_roll_call.in(CpuState::arrived);
  g_answers.start(arrived.count());
  arch::ipi_send(arch::Ipi::ping, arrived);
}

}  // namespace

void open_firmware(arch::PsciConduit conduit) {
  if (conduit == arch::PsciConduit::none) return;
  const Result<arch::psci::Version> version = arch::firmware_init(conduit);
  if (version) {
    print("firmware: PSCI {}.{} by {}\n", version->major, version->minor, to_string(conduit));
  } else {
    print("firmware: PSCI does not answer by {} as the device tree says ({}); not used\n", to_string(conduit),
          to_string(version.error().error));
  }
}

void number_cpus(const Machine& machine, std::optional<unsigned> maxcpus) {
  const arch::CpuFeatures features = arch::read_cpu_features();
  PrintSink notes;
  g_map = number_cpus(machine.cpu_list(),
                      {.boot_mpidr = arch::mpidr(),
                       .psci = arch::firmware_conduit() != arch::PsciConduit::none,
                       // maxcpus=0 is Linux's way to say 1.
                       .most = std::max(maxcpus.value_or(kMaxCpus), 1u),
                       // docs/decisions/0015-one-thread-a-core.md
                       .one_thread_a_core = features.multithreaded && !features.common_not_private},
                      notes);
}

const arch::CpuMap& cpu_map() { return g_map; }
CpuSet online_cpus() { return g_roll_call.in(CpuState::online); }
const char* cpu_state(unsigned cpu) { return to_string(g_roll_call.state(cpu)); }

CpuSet admit_no_more_cpus() {
  g_roll_call.close(CpuState::starting, CpuState::did_not_start);
  CpuSet running = g_roll_call.in(CpuState::online);
  g_roll_call.in(CpuState::arrived).for_each([&](unsigned cpu) { running.add(cpu); });
  return running;
}

void start_secondaries() {
  g_boot_features = arch::read_cpu_features();
  arch::ipi_set_handler(arch::Ipi::ping, answer_ping);
  g_roll_call.move(0, CpuState::off, CpuState::online);
  start_all(g_map.count());
}

void wait_for_secondaries() {
  wait_while_any_is(CpuState::starting);
  find_cpus_without_granule();
  g_roll_call.close(CpuState::starting, CpuState::did_not_start);

  ping_arrived();
  wait_while_any_is(CpuState::arrived);
  g_roll_call.close(CpuState::arrived, CpuState::did_not_answer);

  const CpuSet online = online_cpus();
  const unsigned count = g_map.count();
  for (unsigned cpu = 1; cpu < count; ++cpu) {
    if (online.contains(cpu)) continue;
    print("smp: CPU {} (MPIDR {:#x}) left out: {}\n", cpu, g_map.mpidrs()[cpu], cpu_state(cpu));
  }
  print("smp: {}/{} CPUs online in {} ms\n", online.count(), count, boot_microseconds() / 1000);
}

/// Where head.S leaves a secondary: on its own root and idle stack, IRQs masked.
extern "C" void secondary_main(u64 cpu_number) {
  const auto cpu = static_cast<unsigned>(cpu_number);
  percpu::enter_cpu_context();
  arch::traps_init_cpu();
  arch::drop_identity_map(mm::kernel_roots().zero_root_of(cpu));
  if (!arch::read_cpu_features().suffice_beside(g_boot_features)) park(cpu, CpuState::lacks_features);
  if (percpu::this_cpu() != cpu) park(cpu, CpuState::wrong_window);
  if (!arch::interrupts_init_cpu(cpu)) park(cpu, CpuState::no_gic_interface);
  if (!time_init_cpu()) park(cpu, CpuState::no_timer);
  // Too late: who is online is settled.
  if (!g_roll_call.move(cpu, CpuState::starting, CpuState::arrived)) arch::halt();
  g_arrivals.count();
  arch::irq_enable();
  idle_loop();
}

}  // namespace atl
