// How a PL011 says that it is one (Arm DDI 0183, 3.3.16 to 3.3.23): eight registers at the end of its page, a byte in
// each. Every PrimeCell has them, the clock and the GPIO beside the UART too; the part number tells which it is.
#pragma once

#include <array>

#include "lib/fault.hpp"
#include "lib/types.hpp"

namespace atl::arch {

inline constexpr u64 kPl011Identification = 0xfe0;
/// UARTPeriphID0 to 3, UARTPCellID0 to 3, of the word at each the low byte.
using Pl011Identification = std::array<u8, 8>;

constexpr bool is_pl011(const Pl011Identification& id) {
  if constexpr (kFault == Fault::uart_unidentified) return true;
  const bool is_primecell = id[4] == 0x0d && id[5] == 0xf0 && id[6] == 0x05 && id[7] == 0xb1;
  const unsigned part = id[0] | (id[1] & 0xfu) << 8;
  const unsigned designer = id[1] >> 4 | (id[2] & 0xfu)
                                             << 4;  // JEP106: 0x41 is Arm; above it is the revision
  return is_primecell && part == 0x011 && designer == 0x41;
}

/// UARTFR.
inline constexpr u64 kPl011Flags = 0x18;
namespace pl011_flag {
inline constexpr u32 kBusy = 1 << 3;
inline constexpr u32 kReceiveEmpty = 1 << 4;
inline constexpr u32 kTransmitFull = 1 << 5;
inline constexpr u32 kReceiveFull = 1 << 6;
inline constexpr u32 kTransmitEmpty = 1 << 7;
inline constexpr u32 kReserved = ~u32{0x1ff};
}  // namespace pl011_flag

/// Whether a UART could say so of itself. An SBSA UART has no identification registers, but these flags: no FIFO is
/// both full and empty, and a transmitter is empty, full or busy. Registers that read as zero or as ones do not pass.
constexpr bool are_plausible_flags(u32 flags) {
  using namespace pl011_flag;
  const auto both = [flags](u32 mask) { return (flags & mask) == mask; };
  return (flags & kReserved) == 0 && !both(kTransmitFull | kTransmitEmpty) &&
         !both(kReceiveFull | kReceiveEmpty) && (flags & (kTransmitEmpty | kTransmitFull | kBusy)) != 0;
}

}  // namespace atl::arch
