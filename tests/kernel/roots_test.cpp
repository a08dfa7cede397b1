// Per-CPU roots: really private in the window, really equal everywhere else.
#include "arch/cpu.hpp"
#include "arch/mmu.hpp"
#include "mm/ptdump.hpp"
#include "percpu/percpu.hpp"
#include "tests/kernel/selftest.hpp"
#include "tests/kernel/support.hpp"

namespace atl {
namespace {

ATOLL_PER_CPU percpu::PerCpu<u64> written_locally;

PerCpuResults<PhysAddr> g_roots;
PerCpuResults<PhysAddr> g_frames;

/// Where the boot CPU's own `g_frames` and `g_roots` are filled in by each CPU from its own registers.
void read_roots_and_windows() {
  on_every_cpu([](unsigned cpu) {
    g_roots[cpu] = arch::current_root();
    g_frames[cpu] = arch::translate(mm::KernelLayout::kLocal.start).value_or(PhysAddr(0));
  });
}

ATOLL_SELFTEST(roots_are_each_cpus_own) {
  read_roots_and_windows();
  online_cpus().for_each([](unsigned cpu) {
    EXPECT_THAT(g_roots[cpu] == mm::kernel_roots().root_of(cpu), "CPU {} runs on root {}, not on its own {}",
                cpu, g_roots[cpu], mm::kernel_roots().root_of(cpu));
    for (unsigned other = 0; other < cpu; ++other) {
      EXPECT_THAT(g_roots[cpu] != g_roots[other], "CPUs {} and {} share root {}", other, cpu, g_roots[cpu]);
    }
  });
}

ATOLL_SELFTEST(roots_equal_the_master_outside_the_window) {
  online_cpus().for_each([](unsigned cpu) {
    const auto difference = mm::kernel_roots().compare(cpu);
    EXPECT_THAT(!difference, "CPU {}: slot at {} is {:#x}, the master's {:#x}", cpu, difference->va,
                difference->own.raw(), difference->master.raw());
  });
}

ATOLL_SELFTEST(windows_have_frames_of_their_own) {
  read_roots_and_windows();
  online_cpus().for_each([](unsigned cpu) {
    EXPECT_THAT(g_frames[cpu] != PhysAddr(0), "CPU {}: the window does not translate", cpu);
    for (unsigned other = 0; other < cpu; ++other) {
      EXPECT_THAT(g_frames[cpu] != g_frames[other], "CPUs {} and {} share window frame {}", other, cpu,
                  g_frames[cpu]);
    }
  });
}

ATOLL_SELFTEST(windows_agree_with_the_global_alias) {
  on_every_cpu([](unsigned cpu) { written_locally.write(u64{0xa7011'0000} + cpu); });
  online_cpus().for_each([](unsigned cpu) { EXPECT_EQ(written_locally.on(cpu), u64{0xa7011'0000} + cpu); });
  online_cpus().for_each([](unsigned cpu) { written_locally.on(cpu) = u64{0x610ba1'0000} + cpu; });
  on_every_cpu([](unsigned cpu) { EXPECT_EQ(written_locally.read(), u64{0x610ba1'0000} + cpu); });
}

// The fault handler repairs nothing, so a slot that some root lacks shows as a fault.
ATOLL_SELFTEST(new_top_level_slot_reaches_every_root) {
  // A slot that no test has used, this one's earlier runs included.
  static u64 runs = 0;
  ++runs;
  const u64 before = mm::SyncCounters::total(mm::kernel_roots().counters().runtime);
  ScratchPage page(0, runs);
  const auto frame = allocate_filled(0x5107'5107);
  EXPECT(frame.has_value());
  if (!frame) return;
  EXPECT(page.map(*frame).has_value());
  on_every_cpu([&](unsigned cpu) {
    const auto word = arch::probe_read(page.address());
    EXPECT_THAT(word == 0x5107'5107u, "CPU {} does not see the slot that was installed at {}", cpu,
                page.address());
  });
  const u64 after = mm::SyncCounters::total(mm::kernel_roots().counters().runtime);
  EXPECT_EQ(after, before + 1);
  EXPECT(page.unmap().has_value());
  mm::free_pages(*frame, 0);
}

ATOLL_SELFTEST(nothing_is_writable_and_executable) {
  mm::PageTableDump dump(mm::kRegions<mm::KernelLayout>, nullptr);
  using Geometry = mm::KernelLayout::Geometry;
  mm::with_kernel_tables([&](mm::KernelTables& tables) {
    tables.roots.local(0).visit({Geometry::kKernelStart, Geometry::kKernelBytes}, dump);
  });
  EXPECT(dump.finish().passed());
}

}  // namespace
}  // namespace atl
