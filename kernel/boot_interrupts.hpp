// The boot CPU's interrupts: controller, its own redistributor, timer.
#pragma once

#include "kernel/machine.hpp"

namespace atl {

/// Maps and starts what the device tree describes. Boot CPU on its own root, IRQs masked; they stay so. Panics
/// with the reason where an interrupt controller or timer is missing or does not work.
void start_interrupts(const Machine& machine);

}  // namespace atl
