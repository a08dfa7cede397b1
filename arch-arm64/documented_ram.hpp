// Where the supported board (QEMU `virt`) documents its RAM. What a loader says has precedence; this is for one that
// says nothing: QEMU starts an ELF file with x0 = 0 and the device tree at the start of RAM.
#pragma once

#include "lib/address.hpp"

namespace atl::arch {

inline constexpr PhysAddr kDocumentedRam{0x40000000};
/// Where the ELF file asks to be loaded: a 2 MiB boundary, as the boot protocol has it, and room below for the tree.
inline constexpr PhysAddr kElfLoadAddress = kDocumentedRam + 2_MiB;

}  // namespace atl::arch
