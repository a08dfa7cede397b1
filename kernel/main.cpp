// The boot CPU's way from head.S to the monitor, in order. Each stage is a call; what it promises stands with
// its declaration.
#include "arch/cpu.hpp"
#include "arch/firmware.hpp"
#include "arch/interrupts.hpp"
#include "arch/mmu.hpp"
#include "arch/trap.hpp"
#include "arch/uart.hpp"
#include "kernel/boot_memory.hpp"
#include "kernel/boot_patches.hpp"
#include "kernel/boot_root.hpp"
#include "kernel/boot_timeline.hpp"
#include "kernel/command_line.hpp"
#include "kernel/console.hpp"
#include "kernel/monitor.hpp"
#include "kernel/panic.hpp"
#include "kernel/print_sink.hpp"
#include "kernel/read_machine.hpp"
#include "kernel/secondary_boot.hpp"
#include "kernel/smp.hpp"
#include "kernel/smp_call.hpp"
#include "kernel/time.hpp"
#include "kernel/traps.hpp"
#include "lib/panic.hpp"
#include "mm/kernel_tables.hpp"
#include "mm/physical_memory.hpp"
#include "percpu/cpu_number.hpp"
#include "percpu/preempt.hpp"

namespace atl {
namespace {

/// Where QEMU's `virt` documents its UART: for what there is to say before the device tree names one.
constexpr PhysAddr kDocumentedUart{0x09000000};

constinit KernelOptions g_options;

/// Two CPUs that shared a TLB would see each other's window; then nothing else can be trusted either.
[[maybe_unused]] [[maybe_unused]] void check_window() {
  const unsigned by_register = arch::KernelPerCpuWindow::cpu_of_offset(arch::percpu_offset());
  const unsigned by_window = percpu::this_cpu();
  if (by_window != by_register)
    panic("TLB sharing: CPU {} sees the window of CPU {}", by_register, by_window);
}

/// Boot goes on or ends here: at this stage no failure leaves a system that could run.
template <class T>
T require(Result<T> result, const char* stage) {
  if (!result) {
    const Failure& failure = result.error();
    panic("boot: {}: {} ({}:{})", stage, to_string(failure.error), failure.file, failure.line);
  }
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

void open_documented_console() {
  const auto uart =
      map_in_boot_root(mm::KernelLayout::kFixConsole, {kDocumentedUart, 4_KiB}, arch::kKernelDevice);
  if (uart) arch::uart_init(*uart);
  console_init();
}

PhysRange console_registers(const Machine& machine) {
  return machine.console ? machine.console->registers : PhysRange{kDocumentedUart, 4_KiB};
}

void print_banner() {
  print("atoll: {} page, {}-bit VA, percpu={}, {}\n", to_string(arch::KernelGeometry::kGranule),
        kConfigVaBits, kConfigPerCpu == PerCpuAccessor::local ? "local" : "preempt", kCompilerName);
}

void finalize_memory_map() {
  mm::MemoryMap& map = mm::memory_map();
  if (g_options.mem) map.limit(*g_options.mem);
  const PhysAddr physical_end{u64{1} << arch::read_cpu_features().physical_bits};
  require(map.finalize(mm::MapRules::of<mm::KernelLayout>(physical_end)), "memory map");
  print("memory: {} MiB of RAM, {} MiB free\n", map.ram_bytes() >> 20, map.free_bytes() >> 20);
  const u64 unreachable = map.left_out().unreachable;
  if (unreachable != 0) print("memory: {} MiB of RAM are beyond what this kernel can map\n", unreachable >> 20);
}

void start_interrupts(const Machine& machine) {
  if (machine.gic.version != GicDescription::Version::v3) panic("boot: the device tree names no GICv3");
  const VirtRange distributor = require(mm::map_device(machine.gic.distributor), "GIC distributor");
  static constinit std::array<VirtRange, GicDescription::kMaxRegions> regions{};
  usize count = 0;
  for (const PhysRange& region : machine.gic.redistributors()) {
    regions[count++] = require(mm::map_device(region), "GIC redistributors");
  }
  require(arch::interrupts_init({distributor, std::span(regions).first(count)}, cpu_map().mpidrs()), "GIC");
  require(arch::interrupts_init_cpu(0), "GIC redistributor of the boot CPU");
  if (!machine.timer_irq) panic("boot: the device tree names no virtual timer");
  require(time_init(*machine.timer_irq), "timer interrupt");
  require(time_init_cpu(), "timer");
}

/// The second half, on the boot CPU's idle stack and own root.
[[noreturn]] void continue_boot() {
  const Machine& m = machine();
  start_interrupts(m);
  arch::firmware_init(m.psci);
  smp_call_init();
  panic_enable_stop();
  boot_stage("interrupts");
  require(prepare_secondaries(cpu_map().count()), "units and roots of the other CPUs");
  boot_stage("roots");
  require(start_page_allocator(), "page allocator");
  boot_stage("memory");
  arch::irq_enable();
  start_secondaries();
  boot_stage("online");
  mm::kernel_roots().freeze_boot();
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
  open_documented_console();
  print_banner();

  const Machine& machine = read_machine(PhysAddr(device_tree));
  PrintSink notes;
  g_options = parse_command_line(machine.boot_arguments(), notes);
  number_cpus(machine, g_options.maxcpus);
  finalize_memory_map();
  boot_stage("device-tree");
  apply_boot_patches(g_options.lse);

  const VirtAddr console =
      require(enter_own_root(console_registers(machine), cpu_map().count()), "the boot CPU's own root");
  arch::uart_init(console);
  boot_stage("own-root");
  run_on_stack(idle_stack_top(0).value(), continue_boot);
}

}  // namespace atl
