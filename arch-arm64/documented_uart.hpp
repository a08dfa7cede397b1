// The UART that the supported board (QEMU `virt`) documents: a PL011, for what there is to say before the device
// tree names one. Real hardware has the same PL011 elsewhere; `earlycon=` then says where (docs/boot.md).
#pragma once

#include "lib/address.hpp"

namespace atl::arch {

inline constexpr PhysAddr kDocumentedUart{0x09000000};
/// Bytes of any PL011's registers.
inline constexpr u64 kUartBytes = 4_KiB;

}  // namespace atl::arch
