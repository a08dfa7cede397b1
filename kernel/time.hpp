// The timer interrupt of each CPU. Nothing ticks: a CPU has a deadline or sleeps.
#pragma once

#include "arch/interrupts.hpp"

namespace atl {

/// Installs the handler of the virtual timer's PPI. Boot CPU, once.
/// `out_of_range`: the controller has no such line.
Result<> time_init(arch::IrqNumber timer_irq);
/// Arms this CPU's timer: line enabled, a deadline far in the future. Every CPU, IRQs masked.
Result<> time_init_cpu();

}  // namespace atl
