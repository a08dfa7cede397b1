// The boot CPU's interrupts: controller, its own redistributor, timer.
#pragma once

#include "kernel/machine.hpp"

namespace atl {

/// Maps and starts what the device tree describes. Boot CPU on its own root, IRQs masked; they stay so. Panics
/// with the reason where an interrupt controller or timer is missing or does not work.
void start_interrupts(const Machine& machine);

/// Makes sure that the timer's interrupt and a software-generated one arrive here: every bounded wait ends by the
/// first, every call by the second, and a device tree that names a wrong line would turn them into silence.
/// Boot CPU, alone, IRQs enabled, handlers installed. Panics naming the interrupt that does not come.
void check_interrupts_arrive();

}  // namespace atl
