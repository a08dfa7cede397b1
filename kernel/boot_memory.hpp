// The boot stages of memory: from the boot root, which maps the image alone, to the boot CPU's own root, the
// linear map, the page array and the buddy allocator.
#pragma once

#include <optional>

#include "lib/address.hpp"
#include "lib/result.hpp"

namespace atl {

/// Ends the filling of the memory map; `limit` is what `mem=` says. Leaves out RAM that is not there, and says how
/// much there is. Panics where none can be used, or the kernel does not lie in it. Boot CPU on the boot root.
void finalize_memory_map(std::optional<u64> limit);

/// Builds the master tables for `cpus` possible CPUs and the boot CPU's root, and moves to it. The memory map is
/// finalized. Boot CPU, IRQs masked. On return the boot root, its device mappings too, is gone; `console` is mapped,
/// if it is not empty. Panics, with the figures, where there is no free RAM for all that.
Result<VirtAddr> enter_own_root(PhysRange console, unsigned cpus);

/// Whether the boot CPU still used a translation of the boot root after it had left it: read once, right behind
/// the switch, at an address that only the boot root maps.
bool boot_translation_survived();

/// Backs and zeroes the page array, then hands all memory that boot did not take to the buddy allocator.
Result<> start_page_allocator();

}  // namespace atl
