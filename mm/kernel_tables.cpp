#include "mm/kernel_tables.hpp"

#include "arch/cpu.hpp"

namespace atl::mm {
namespace {

constinit Roots g_roots{KernelTableMemory()};
constinit Windows g_windows{g_roots};
constinit percpu::Guarded<KernelTables> g_tables{g_roots, g_windows};

/// The same offset below 2 MiB as the physical address lets blocks and contiguous runs form.
constexpr u64 kDevicePhase = 2_MiB;

}  // namespace

const Roots& kernel_roots() { return g_roots; }
percpu::Guarded<KernelTables>& kernel_tables() { return g_tables; }

PhysRange addressable() { return {PhysAddr(0), u64{1} << arch::read_cpu_features().physical_bits}; }

Result<VirtRange> map_device(PhysRange registers) {
  // Bits above IPS do not fit a descriptor: they would be lost, or the walk would fault.
  if (registers.empty() || !addressable().contains(registers)) return fail(Error::out_of_range);
  const PhysAddr first = registers.start.align_down(arch::kPageSize);
  const u64 bytes = registers.end().align_up(arch::kPageSize) - first;
  return with_kernel_tables([&](KernelTables& tables) -> Result<VirtRange> {
    VirtAddr va = tables.devices_end.align_down(kDevicePhase) + first.value() % kDevicePhase;
    if (va < tables.devices_end) va += kDevicePhase;
    if (!KernelLayout::kDevices.contains(VirtRange{va, bytes})) return fail(Error::no_memory);
    TRY(tables.master().map(va, first, bytes, arch::kKernelDevice));
    // A page between devices stays unmapped: running off one of them faults.
    tables.devices_end = va + bytes + arch::kPageSize;
    return VirtRange{va + (registers.start - first), registers.size};
  });
}

}  // namespace atl::mm
