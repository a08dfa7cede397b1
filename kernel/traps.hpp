// What the kernel does about exceptions that nothing has a use for: it says what happened, and panics.
#pragma once

#include "arch/trap.hpp"

namespace atl {

/// For arch::set_trap_handler. On the emergency stack if `stack_overflow`. Never returns so far: faults that
/// can be repaired are repaired below the seam.
void handle_trap(arch::TrapFrame& frame, arch::TrapKind kind, bool stack_overflow);

}  // namespace atl
