// The boot CPU's way from head.S to the monitor, in order. Each stage is a call; what it promises stands with
// its declaration.
#include "arch/cpu.hpp"
#include "arch/interrupts.hpp"
#include "arch/mmu.hpp"
#include "arch/trap.hpp"
#include "arch/uart.hpp"
#include "kernel/boot_console.hpp"
#include "kernel/boot_interrupts.hpp"
#include "kernel/boot_memory.hpp"
#include "kernel/boot_patches.hpp"
#include "kernel/boot_require.hpp"
#include "kernel/boot_root.hpp"
#include "kernel/boot_timeline.hpp"
#include "kernel/command_line.hpp"
#include "kernel/monitor.hpp"
#include "kernel/panic.hpp"
#include "kernel/print_sink.hpp"
#include "kernel/read_machine.hpp"
#include "kernel/secondary_memory.hpp"
#include "kernel/smp.hpp"
#include "kernel/smp_call.hpp"
#include "kernel/traps.hpp"
#include "kernel/window_check.hpp"
#include "mm/kernel_tables.hpp"
#include "percpu/cpu_number.hpp"
#include "percpu/preempt.hpp"

namespace atl {
namespace {

constinit KernelOptions g_options;

void print_banner() {
  print("atoll: {} page, {}-bit VA, percpu={}, {}\n", to_string(arch::KernelGeometry::kGranule),
        kConfigVaBits, kConfigPerCpu == PerCpuAccessor::local ? "local" : "preempt", kCompilerName);
}

/// The second half, on the boot CPU's idle stack and own root.
[[noreturn]] void continue_boot() {
  start_interrupts(machine());
  smp_call_init();
  panic_enable_stop();
  arch::irq_enable();
  check_interrupts_arrive();
  boot_stage("interrupts");
  require(prepare_secondaries(cpu_map().count()), "units and roots of the other CPUs");
  boot_stage("roots");
  start_secondaries();
  // While they come up: their roots are in the store set, so what is mapped from here on reaches them.
  require(start_page_allocator(), "page allocator");
  boot_stage("memory");
  wait_for_secondaries();
  boot_stage("online");
  mm::with_kernel_tables([](mm::KernelTables& tables) { tables.roots.freeze_boot(); });
  arch::drop_identity_map(mm::kernel_roots().zero_root_of(0));
  monitor_main(g_options);
}

}  // namespace

/// Where head.S leaves the boot CPU: on the boot root and boot stack, everything masked.
extern "C" [[noreturn]] void kernel_main(u64 device_tree, u64 image, u64 entry_ticks) {
  percpu::enter_cpu_context();
  percpu::cpu_number.on(0) = 0;
  arch::set_trap_handler(handle_trap);
  if constexpr (kDebug) arch::set_irq_entry_check(check_window);
  arch::traps_init_cpu();
  boot_root_init(PhysAddr(image));
  boot_timeline_start(entry_ticks);
  open_early_console();
  print_banner();

  const Machine& machine = read_machine(PhysAddr(device_tree));
  PrintSink notes;
  g_options = parse_command_line(machine.boot_arguments(), notes);
  move_early_console(g_options);
  open_firmware(machine.psci);
  number_cpus(machine, g_options.maxcpus);
  finalize_memory_map(g_options.mem);
  boot_stage("device-tree");
  apply_boot_patches(g_options.lse);

  const VirtAddr console =
      require(enter_own_root(console_registers(machine), cpu_map().count()), "the boot CPU's own root");
  arch::uart_init(console);
  boot_stage("own-root");
  run_on_stack(idle_stack_top(0).value(), continue_boot);
}

}  // namespace atl
