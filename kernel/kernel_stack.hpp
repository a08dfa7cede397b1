// Where kernel stacks lie, for those who look at one from outside (backtraces, fault reports).
#pragma once

#include "arch/cpu.hpp"
#include "arch/mmu.hpp"
#include "arch/trap.hpp"
#include "lib/address.hpp"
#include "mm/stack_slots.hpp"

extern "C" {
/// A per-CPU address: this CPU's emergency stack ends at its global alias.
extern char percpu_emergency_stack_top[];
}

namespace atl {

/// The stack of the slot that `stack_pointer` lies in, which after an overflow is below the stack itself
/// (mm/stack_slots.hpp). Empty if there is no memory: then the pointer was none of a stack.
inline VirtRange kernel_stack_of(VirtAddr stack_pointer) {
  const VirtRange stack = mm::KernelStackSlots::stack_around(stack_pointer);
  return arch::translate(stack.end() - 16) ? stack : VirtRange{};
}

/// This CPU's, by its global alias.
inline VirtRange emergency_stack() {
  const VirtAddr top = address_of(percpu_emergency_stack_top) + arch::percpu_offset();
  return {top - arch::kEmergencyStackBytes, arch::kEmergencyStackBytes};
}

}  // namespace atl
