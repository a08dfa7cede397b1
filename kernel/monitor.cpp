#include "kernel/monitor.hpp"

#include <algorithm>
#include <array>

#include "arch/firmware.hpp"
#include "kernel/boot_console.hpp"
#include "kernel/command_table.hpp"
#include "kernel/console.hpp"
#include "kernel/image.hpp"
#include "kernel/panic_command.hpp"
#include "kernel/percpu_command.hpp"
#include "kernel/print_sink.hpp"
#include "kernel/selftest.hpp"
#include "kernel/smp.hpp"
#include "lib/panic.hpp"
#include "mm/kernel_tables.hpp"
#include "mm/physical_memory.hpp"
#include "mm/ptdump.hpp"
#include "percpu/events.hpp"

extern "C" {
/// The linker script gathers `.selftests` between these; nothing in the lean kernel.
extern const atl::Selftest* const __selftests_start[];
extern const atl::Selftest* const __selftests_end[];
}

namespace atl {
namespace {

using mm::KernelLayout;

/// What `poweroff` reports: of all that was checked, and of all mistakes in `run=`. A mistake at the prompt is none.
constinit unsigned g_failures = 0;
constinit std::string_view g_selftest_pattern;

CommandResult help(std::string_view);

CommandResult cpus(std::string_view) {
  const auto& mpidrs = cpu_map().mpidrs();
  for (unsigned cpu = 0; cpu < mpidrs.size(); ++cpu) {
    print("  cpu {} mpidr {:#x} {}\n", cpu, mpidrs[cpu], cpu_state(cpu));
  }
  print("{} of {} CPUs online\n", online_cpus().count(), mpidrs.size());
  return 0;
}

void print_root_syncs(const char* when, const mm::SyncCounters::ByRegion& by_region) {
  print("root syncs {}:", when);
  for (usize i = 0; i < by_region.size(); ++i) {
    if (by_region[i] != 0) print(" {} {}", to_string(static_cast<mm::Region>(i)), by_region[i]);
  }
  print(" (in all {})\n", mm::SyncCounters::total(by_region));
}

CommandResult mem(std::string_view) {
  const mm::MemoryMap& map = mm::memory_map();
  for (const PhysRange& bank : map.ram()) print("  RAM      {} {} KiB\n", bank.start, bank.size >> 10);
  for (const mm::Reservation& r : map.reservations()) {
    print("  reserved {} {} KiB: {} {}\n", r.range.start, r.range.size >> 10, to_string(r.kind), r.name());
  }
  const auto [by_limit, unreachable, trimmed, absent] = map.left_out();
  print("left out: {} KiB by mem=, {} KiB unreachable, {} KiB absent, {} bytes trimmed\n", by_limit >> 10,
        unreachable >> 10, absent >> 10, trimmed);
  const mm::MemoryCounts counts = mm::memory_counts();
  print("{} of {} pages of {} KiB free\n", counts.free_pages, counts.managed_pages, arch::kPageSize >> 10);
  const mm::SyncCounters syncs = mm::kernel_roots().counters();
  print_root_syncs("at boot", syncs.boot);
  print_root_syncs("at run time", syncs.runtime);
  return 0;
}

/// `arguments`: whose root, a CPU number; the boot CPU's by default.
CommandResult ptdump(std::string_view arguments) {
  const auto cpu = parse_number(arguments.empty() ? "0" : arguments, kMaxCpus - 1);
  if (!cpu || !mm::kernel_roots().cpus().contains(static_cast<unsigned>(*cpu))) {
    print("ptdump: no CPU \"{}\" with a root\n", arguments);
    return CommandResult::refused();
  }
  PrintSink sink;
  mm::PageTableDump dump(mm::kRegions<KernelLayout>, &sink);
  using Geometry = KernelLayout::Geometry;
  mm::with_kernel_tables([&](mm::KernelTables& tables) {
    tables.roots.local(static_cast<unsigned>(*cpu))
        .visit({Geometry::kKernelStart, Geometry::kKernelBytes}, dump);
  });
  return dump.finish().passed() ? 0 : 1;
}

CommandResult print_areas() {
  const mm::Roots& roots = mm::kernel_roots();
  print("local window {}, global window {}, unit {} KiB, static area {} bytes\n", KernelLayout::kLocal.start,
        KernelLayout::kGlobal.start, KernelLayout::kUnitBytes >> 10,
        address_of(__percpu_template_end) - address_of(__percpu_template));
  u64 most = 0;
  roots.cpus().for_each([&](unsigned cpu) {
    const u64 bytes = mm::with_kernel_tables(
        [cpu](mm::KernelTables& tables) { return tables.roots.private_table_bytes(cpu); });
    most = std::max(most, bytes);
    print("  cpu {} root {} unit {} private tables {} bytes\n", cpu, roots.root_of(cpu),
          KernelLayout::unit(cpu), bytes);
  });
  print("page tables per CPU: {} bytes at most\n", most);
  for (usize i = 0; i < percpu::kEventCount; ++i) {
    const auto event = static_cast<percpu::Event>(i);
    print("  {} {}\n", to_string(event), percpu::total(event, roots.cpus()));
  }
  return 0;
}

/// `arguments`: nothing, or whose variables.
CommandResult percpu_memory(std::string_view arguments) {
  if (!arguments.empty() && percpu_command != nullptr) return percpu_command(arguments);
  return print_areas();
}

CommandResult selftest(std::string_view arguments) {
  const std::string_view pattern = arguments.empty() ? g_selftest_pattern : arguments;
  const SelftestSummary summary = run_selftests({__selftests_start, __selftests_end}, pattern);
  return summary.is_empty() ? CommandResult::refused() : summary.failed;
}

CommandResult poweroff(std::string_view) {
  if (g_failures == 0) {
    print("atoll: all runs passed\n");
    arch::system_off();
  }
  print("atoll: FAILED ({} failures)\n", g_failures);
  arch::exit_with_status(1);
}

constexpr std::array kCommands{
    Command{"help", "this list", help},
    Command{"cpus", "the CPUs by number, their MPIDR and state", cpus},
    Command{"mem", "RAM, reservations, free pages, root syncs", mem},
    Command{"ptdump", "[cpu] what a CPU's root maps; fails if anything is writable and executable", ptdump},
    Command{"percpu", "windows, roots, units; [cpu [pattern]] a CPU's variables by name", percpu_memory},
    Command{"selftest", "[pattern] the kernel's own tests, in KTAP", selftest},
    Command{"panic", kPanicForms, panic_command},
    Command{"poweroff", "ends with status 0, or 1 if anything failed", poweroff},
};

CommandResult help(std::string_view) {
  print_help(kCommands);
  return 0;
}

}  // namespace

void monitor_main(const KernelOptions& options) {
  g_selftest_pattern = options.selftest;
  run_list(kCommands, options.run, g_failures);

  console_start_input(console_interrupt());
  for (;;) {
    print("atoll> ");
    std::array<char, 128> line;
    g_failures += run_line(kCommands, console_read_line(line)).failed();
  }
}

}  // namespace atl
