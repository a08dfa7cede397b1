// Which UART the console is while the kernel boots (docs/boot.md, "The early console"). None is used that does not
// answer as one: what is written to a wrong address may be anybody's.
#pragma once

#include <optional>

#include "arch/interrupts.hpp"
#include "kernel/command_line.hpp"
#include "kernel/machine.hpp"
#include "lib/address.hpp"

namespace atl {

/// `print` works from now on, over the documented UART if there is one. Boot CPU on the boot root.
void open_early_console();
/// `earlycon=pl011,ADDRESS`: goes on over that UART; without an address nothing changes. Boot CPU on the boot root.
/// One that cannot be used is named, and the console stays where it is.
void move_early_console(const KernelOptions& options);
/// The registers that the console has once the boot root is left: the device tree's UART; if it names none that can be
/// used, which is said, the one that was used so far; empty if that is none. Boot CPU on the boot root, once, after the
/// memory map is finalized.
PhysRange console_registers(const Machine& machine);
/// The interrupt of the UART that `console_registers` gave, if the tree says which.
std::optional<arch::IrqNumber> console_interrupt();

}  // namespace atl
