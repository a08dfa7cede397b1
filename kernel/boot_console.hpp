// Which UART the console is while the kernel boots (docs/boot.md, "The early console").
#pragma once

#include "kernel/command_line.hpp"
#include "kernel/machine.hpp"
#include "lib/address.hpp"

namespace atl {

/// `print` works from now on, over the documented UART. Boot CPU on the boot root.
void open_early_console();
/// `earlycon=pl011,ADDRESS`: goes on over that UART; without an address nothing changes. Boot CPU on the boot root.
/// An address that cannot be mapped is named, and the console stays where it is.
void move_early_console(const KernelOptions& options);
/// The registers that the console has once the boot root is left: the device tree's UART; if it names none, the
/// one that was used so far.
PhysRange console_registers(const Machine& machine);

}  // namespace atl
