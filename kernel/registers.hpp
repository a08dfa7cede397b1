// A TrapFrame as text.
#pragma once

#include "arch/trap.hpp"

namespace atl {

/// General registers four to a line, then SP, PC, SPSR, ESR and FAR. Any context.
void print_registers(const arch::TrapFrame& frame);

}  // namespace atl
