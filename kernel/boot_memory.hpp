// The boot stages of memory: from the boot root, which maps the image alone, to the boot CPU's own root, the
// linear map, the page array and the buddy allocator, and then to a unit and a root for every other CPU.
#pragma once

#include "kernel/machine.hpp"
#include "lib/address.hpp"
#include "lib/result.hpp"

namespace atl {

/// Builds the master tables for `cpus` possible CPUs and the boot CPU's root, and moves to it. The memory map is
/// finalized. Boot CPU, IRQs masked. On return the boot root, its device mappings too, is gone; `console` is mapped.
Result<VirtAddr> enter_own_root(PhysRange console, unsigned cpus);

/// Whether the boot CPU still used a translation of the boot root after it had left it: read once, right behind
/// the switch, at an address that only the boot root maps.
bool boot_translation_survived();

/// Unit, root and idle stack for each of the CPUs 1 … count - 1, before any of them is started.
Result<> prepare_secondaries(unsigned count);

/// Backs and zeroes the page array, then hands all memory that boot did not take to the buddy allocator.
Result<> start_page_allocator();

/// Top of a CPU's idle stack in the stacks region.
VirtAddr idle_stack_top(unsigned cpu);
/// Maps the idle stack of `cpu` into its slot; the slot's lower half stays unmapped, as guard.
Result<> map_idle_stack(unsigned cpu);

}  // namespace atl
