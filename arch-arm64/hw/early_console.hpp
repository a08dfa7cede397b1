// The last resort for messages before the MMU is on and the device tree is read: the PL011 where the
// supported board (QEMU `virt`) documents it. Runs at physical addresses.
#pragma once

#include "lib/types.hpp"

namespace atl::arch {

class EarlyConsole {
 public:
  void write(const char* text) {
    for (; *text != '\0'; ++text) {
      if (*text == '\n') put('\r');
      put(*text);
    }
  }
  /// The low four bitsas one digit, upper case.
  void write_hex_digit(u64 value) {
    const u64 digit = value & 0xf;
    put(static_cast<char>(digit < 10 ? '0' + digit : 'A' + digit - 10));
  }

 private:
  static constexpr u64 kUart = 0x09000000;
  static constexpr u64 kFlags = kUart + 0x18;
  static constexpr u32 kTransmitFull = 1 << 5;
  static constexpr unsigned kTurns = 100'000;

  static volatile u32& reg(u64 address) { return *reinterpret_cast<volatile u32*>(address); }

  void put(char c) {
    for (unsigned turn = 0; turn < kTurns && (reg(kFlags) & kTransmitFull) != 0; ++turn) {
    }
    reg(kUart) = static_cast<u8>(c);
  }
};

}  // namespace atl::arch
