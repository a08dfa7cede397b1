// The linear map: all RAM at one offset. `kLinear.start` corresponds to the base, the lowest RAM address
// rounded down to what lets blocks fit (mm/memory_map.hpp chooses it).
#pragma once

#include "lib/address.hpp"
#include "mm/layout.hpp"

namespace atl::mm {

/// Sets the base, once, before the first conversion.
void linear_map_init(PhysAddr base);
PhysAddr linear_map_base();

/// The linear alias of RAM at `pa`. Mapped only if the memory map lists it and it is not `no-map`.
VirtAddr phys_to_virt(PhysAddr pa);

/// The physical address behind a linear address. Addresses of the local window, of vmalloc and of the
/// image are not linear: passing one panics in debug builds, naming it.
PhysAddr virt_to_phys(VirtAddr va);

}  // namespace atl::mm
