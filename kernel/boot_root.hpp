// Mappings in the boot root: what must be reachable before there is a memory map.
#pragma once

#include "arch-arm64/descriptor.hpp"
#include "lib/address.hpp"
#include "lib/result.hpp"

namespace atl {

/// `image`: where the loader put it. Before the functions below.
void boot_root_init(PhysAddr image);
PhysAddr image_phys();

/// Maps `range` so that it begins at `window` plus its offset in a page. The boot root dies with
/// `install_root`, and the mapping with it. `out_of_range`: the window is too small, or the CPU cannot address it.
Result<VirtAddr> map_in_boot_root(VirtRange window, PhysRange range, arch::PageAttributes attributes);

/// Undoes it: the window can be used for something else.
void unmap_from_boot_root(VirtRange window);

/// Leaves the current stack for good: calls `function` with SP = `stack_top` (head.S).
extern "C" [[noreturn]] void run_on_stack(u64 stack_top, void (*function)());

}  // namespace atl
