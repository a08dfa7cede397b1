// The first thing the kernel learns: from the device tree's address to `Machine` and the memory map.
#pragma once

#include "kernel/machine.hpp"
#include "lib/address.hpp"

namespace atl {

/// Reads the tree at `passed` (as the loader put it into x0; 0: where the documented board has one), fills the memory
/// map, and reserves the image and the tree in it; does not finalize it (`mem=` comes after). Prints notes on what was
/// left out. Boot CPU on the boot root. Panics with the reason where no usable tree is.
Machine& read_machine(PhysAddr passed);

/// The machine, read-only after boot.
const Machine& machine();
/// The initrd turned out to be out of reach. During boot.
void forget_initrd();

}  // namespace atl
