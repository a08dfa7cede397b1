// Where physical pages come from: the memory map, then the boot allocator, then the buddy allocator. This file
// owns the one instance of each and knows which of them is in charge.
#pragma once

#include "lib/address.hpp"
#include "lib/result.hpp"
#include "mm/memory_map.hpp"
#include "mm/page_array.hpp"

namespace atl::mm {

/// The one memory map. Filled and finalized by boot before anything below is called.
MemoryMap& memory_map();

/// First stage: allocations come from `window`, the part of RAM that can be reached so far.
void start_boot_allocator(PhysRange window);
/// From now on from all free RAM: the linear map stands.
void widen_boot_allocator();

/// `bytes` at a multiple of `align`, contents undefined, never given back. First stage only.
[[nodiscard]] Result<PhysAddr> allocate_at_boot(u64 bytes, u64 align);

/// Second stage: hands what is left to the buddy allocator. `pages` covers all RAM, and is backed and zeroed where
/// `for_each_page_array_range` says. Boot CPU.
void start_buddy_allocator(const PageArray<arch::KernelGeometry>& pages);

struct MemoryCounts {
  u64 managed_pages;
  u64 free_pages;
};
/// All zero before `start_buddy_allocator`.
MemoryCounts memory_counts();

/// 2^order pages, contents undefined. Second stage; any context. `no_memory`, `invalid_argument` (order).
[[nodiscard]] Result<PhysAddr> allocate_pages(unsigned order);
/// Gives back what `allocate_pages(order)` gave. Panics on anything else. In the first stage, where a mapping that
/// fails gives its tables back, they are lost: that ends the boot.
void free_pages(PhysAddr pages, unsigned order);

/// `bytes` (a power of two of pages in the second stage) at page alignment, zeroed, in either stage.
[[nodiscard]] Result<PhysAddr> allocate_zeroed(u64 bytes);

}  // namespace atl::mm
