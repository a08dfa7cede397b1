#include "mm/kernel_tables.hpp"

namespace atl::mm {
namespace {

constinit Roots g_roots{KernelTableMemory()};
constinit Windows g_windows{g_roots};
constinit VirtAddr g_next_device = KernelLayout::kDevices.start;

}  // namespace

Roots& kernel_roots() { return g_roots; }
Windows& kernel_windows() { return g_windows; }

Result<VirtRange> map_device(PhysRange registers) {
  const PhysAddr first = registers.start.align_down(arch::kPageSize);
  const u64 bytes = registers.end().align_up(arch::kPageSize) - first;
  // The same offset below 2 MiB as the physical address lets blocks and contiguous runs form.
  constexpr u64 kPhase = 2_MiB;
  VirtAddr va = g_next_device.align_down(kPhase) + first.value() % kPhase;
  if (va < g_next_device) va += kPhase;
  if (!KernelLayout::kDevices.contains(VirtRange{va, bytes})) return fail(Error::no_memory);
  TRY(g_roots.master().map(va, first, bytes, arch::kKernelDevice));
  // A page between devices stays unmapped: running off one of them faults.
  g_next_device = va + bytes + arch::kPageSize;
  return VirtRange{va + (registers.start - first), registers.size};
}

}  // namespace atl::mm
