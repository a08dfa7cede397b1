#include "mm/linear_map.hpp"

#include "lib/panic.hpp"

namespace atl::mm {
namespace {

constinit PhysAddr g_base;

}  // namespace

void linear_map_init(PhysAddr base) { g_base = base; }

PhysAddr linear_map_base() { return g_base; }

VirtAddr phys_to_virt(PhysAddr pa) { return KernelLayout::kLinear.start + (pa - g_base); }

PhysAddr virt_to_phys(VirtAddr va) {
  if constexpr (kDebug) {
    if (KernelLayout::kLocal.contains(va)) {
      panic("virt_to_phys: {} is a local per-CPU address; use the global alias", va);
    }
    if (!KernelLayout::kLinear.contains(va)) panic("virt_to_phys: {} is not in the linear map", va);
  }
  return g_base + (va - KernelLayout::kLinear.start);
}

}  // namespace atl::mm
