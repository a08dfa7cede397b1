#include "kernel/smp.hpp"

#include <algorithm>
#include <atomic>

#include "arch/cpu.hpp"
#include "arch/firmware.hpp"
#include "arch/interrupts.hpp"
#include "arch/mmu.hpp"
#include "arch/timer.hpp"
#include "arch/trap.hpp"
#include "kernel/boot_memory.hpp"
#include "kernel/boot_timeline.hpp"
#include "kernel/early_tables.hpp"
#include "kernel/secondary_boot.hpp"
#include "kernel/smp_call.hpp"
#include "kernel/time.hpp"
#include "kernel/wait.hpp"
#include "lib/format.hpp"
#include "mm/kernel_tables.hpp"
#include "percpu/cpu_number.hpp"
#include "percpu/percpu.hpp"
#include "percpu/preempt.hpp"

extern "C" char secondary_entry[];

namespace atl {
namespace {

/// How far a secondary got. Written by that CPU, read by the boot CPU.
enum class Progress : u8 {
  off,
  refused,
  features_differ,
  wrong_window,
  no_redistributor,
  no_timer,
  arrived,
  online
};

const char* to_string(Progress progress) {
  switch (progress) {
    case Progress::off: return "did not start";
    case Progress::refused: return "refused by firmware";
    case Progress::features_differ: return "its features differ from the boot CPU's";
    case Progress::wrong_window: return "its local window shows another CPU's number";
    case Progress::no_redistributor: return "has no redistributor";
    case Progress::no_timer: return "has no timer interrupt";
    case Progress::arrived: return "did not answer an IPI";
    case Progress::online: return "online";
  }
  return "?";
}

/// Nobody is waited for longer than this after the last sign of progress. With 160 vCPUs on two host cores
/// the last one may be seconds behind; a CPU that is dead costs the boot this once.
constexpr u64 kPatienceNs = 10'000'000'000;

constinit arch::CpuMap g_map;
constinit CpuSet g_online;
constinit arch::CpuFeatures g_boot_features;
constinit std::array<std::atomic<Progress>, kMaxCpus> g_progress{};
constinit std::array<SecondaryBoot, kMaxCpus> g_boot{};

/// Where the boot CPU waits for the others.
class Rendezvous {
 public:
  /// Secondary: counts itself in. The one that completes the count wakes the boot CPU; whoever comes before
  /// the count is known is seen by the boot CPU itself.
  void report() {
    const unsigned now = reported_.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (now == expected_.load(std::memory_order_acquire)) arch::ipi_send_one(arch::Ipi::wake, 0);
  }

  /// Boot CPU: waits until `expected` CPUs have reported, as long as there is progress.
  void wait_for(unsigned expected) {
    expected_.store(expected, std::memory_order_release);
    const auto all = [&] { return reported_.load(std::memory_order_acquire) >= expected; };
    for (unsigned seen = 0;;) {
      if (wait_until(all, arch::timer_ticks() + arch::ns_to_ticks(kPatienceNs))) return;
      const unsigned now = reported_.load(std::memory_order_acquire);
      if (now == seen) return;
      seen = now;
    }
  }

 private:
  std::atomic<unsigned> reported_ = 0;
  std::atomic<unsigned> expected_ = ~0u;
};

/// Two of them, so that a CPU that arrives late is not taken for one that answered.
constinit Rendezvous g_arrivals;
constinit Rendezvous g_answers;

void arrive(unsigned cpu, Progress progress) {
  g_progress[cpu].store(progress, std::memory_order_release);
  g_arrivals.report();
}

/// Parks this CPU for good, its reason reported.
[[noreturn]] void park(unsigned cpu, Progress reason) {
  arrive(cpu, reason);
  arch::halt();
}

void answer_ping() {
  g_progress[percpu::this_cpu()].store(Progress::online, std::memory_order_release);
  g_answers.report();
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

}  // namespace

void number_cpus(const Machine& machine, std::optional<unsigned> maxcpus) {
  g_map = arch::CpuMap(arch::mpidr());
  // maxcpus=0 is Linux's way to say 1.
  const unsigned most = std::max(maxcpus.value_or(kMaxCpus), 1u);
  for (const CpuDescription& cpu : machine.cpu_list()) {
    const bool is_boot_cpu = arch::Affinity::of_mpidr(cpu.affinity) == g_map.affinity(0);
    if (!is_boot_cpu && g_map.count() >= most) continue;
    const Result<unsigned> number = g_map.add(cpu.affinity);
    if (!number) print("smp: cpu node {:#x} left out: {}\n", cpu.affinity, to_string(number.error().error));
  }
  if (!g_map.boot_cpu_listed()) print("smp: the device tree does not list the boot CPU\n");
}

const arch::CpuMap& cpu_map() { return g_map; }
const CpuSet& online_cpus() { return g_online; }

const char* cpu_state(unsigned cpu) {
  const Progress progress = g_progress[cpu].load(std::memory_order_acquire);
  if (progress == Progress::off) {
    // Written with the MMU off: look at memory, not at a line cached before.
    arch::clean_to_poc({address_of(&g_boot[cpu]), sizeof(SecondaryBoot)});
    if (g_boot[cpu].status == SecondaryStatus::no_granule) return "has no such granule";
  }
  return to_string(progress);
}

void start_secondaries() {
  g_boot_features = arch::read_cpu_features();
  arch::ipi_set_handler(arch::Ipi::ping, answer_ping);
  g_online.add(0);
  g_progress[0].store(Progress::online, std::memory_order_relaxed);
  const unsigned count = g_map.count();
  const std::span<const u64> affinities = g_map.mpidrs();

  for (unsigned cpu = 1; cpu < count; ++cpu) prepare_boot_record(cpu);
  arch::clean_to_poc({address_of(g_boot.data()), count * sizeof(SecondaryBoot)});

  const PhysAddr entry = arch::image_to_phys(secondary_entry);
  unsigned started = 0;
  for (unsigned cpu = 1; cpu < count; ++cpu) {
    const Result<> result = arch::cpu_on(affinities[cpu], entry, arch::image_to_phys(&g_boot[cpu]).value());
    if (result) {
      ++started;
    } else {
      print("smp: CPU {} (MPIDR {:#x}): CPU_ON: {}\n", cpu, affinities[cpu], to_string(result.error().error));
      g_progress[cpu].store(Progress::refused, std::memory_order_relaxed);
    }
  }
  g_arrivals.wait_for(started);

  CpuSet arrived;
  for (unsigned cpu = 1; cpu < count; ++cpu) {
    if (g_progress[cpu].load(std::memory_order_acquire) == Progress::arrived) arrived.add(cpu);
  }
  if (!arrived.empty()) {
    arch::ipi_send_all_others(arch::Ipi::ping);
    g_answers.wait_for(arrived.count());
  }
  for (unsigned cpu = 1; cpu < count; ++cpu) {
    if (g_progress[cpu].load(std::memory_order_acquire) == Progress::online) {
      g_online.add(cpu);
    } else {
      print("smp: CPU {} (MPIDR {:#x}) left out: {}\n", cpu, affinities[cpu], cpu_state(cpu));
    }
  }
  print("smp: {}/{} CPUs online in {} ms\n", g_online.count(), count, boot_microseconds() / 1000);
}

/// Where head.S leaves a secondary: on its own root and idle stack, IRQs masked.
extern "C" void secondary_main(u64 cpu_number) {
  const auto cpu = static_cast<unsigned>(cpu_number);
  percpu::enter_cpu_context();
  arch::traps_init_cpu();
  arch::drop_identity_map(mm::kernel_roots().zero_root_of(cpu));
  if (arch::read_cpu_features() != g_boot_features) park(cpu, Progress::features_differ);
  if (percpu::this_cpu() != cpu) park(cpu, Progress::wrong_window);
  if (!arch::interrupts_init_cpu(cpu)) park(cpu, Progress::no_redistributor);
  if (!time_init_cpu()) park(cpu, Progress::no_timer);
  arrive(cpu, Progress::arrived);
  arch::irq_enable();
  idle_loop();
}

}  // namespace atl
