// arch/uart.hpp on the machine: a PL011 (Arm DDI 0183). Baud rate and format stay as the loader set them.
#include "arch/uart.hpp"

#include "arch-arm64/hw/mmio.hpp"
#include "arch-arm64/hw/poll.hpp"
#include "arch-arm64/pl011_registers.hpp"
#include "arch/mmu.hpp"

namespace atl::arch {
namespace {

using pl011_flag::kReceiveEmpty;
using pl011_flag::kTransmitFull;

constexpr u64 kData = 0x00;
constexpr u64 kFlags = kPl011Flags;
constexpr u64 kControl = 0x30;
constexpr u64 kInterruptMask = 0x38;

constexpr u32 kUartEnable = 1 << 0;
constexpr u32 kTransmitEnable = 1 << 8;
constexpr u32 kReceiveEnable = 1 << 9;

constexpr u32 kReceiveInterrupt = 1 << 4;
/// The FIFO holds something, but less than its trigger level, and the line is quiet.
constexpr u32 kReceiveTimeoutInterrupt = 1 << 6;

/// A character takes 87 us at 115200 baud, and the FIFO frees one place in that time.
constexpr unsigned kTransmitTurns = 1'000'000;

constinit RegisterBlock uart;
/// The FIFO stayed full as long as anybody would wait. Until it has room again nobody waits a second time: a message
/// of a hundred characters would take a hundred times as long.
constinit bool is_stuck = false;

}  // namespace

bool uart_answers(VirtAddr registers, bool identifies) {
  if (!identifies) {
    const auto flags = probe_read(registers + kFlags);
    return flags && are_plausible_flags(*flags);
  }
  Pl011Identification id;
  for (usize i = 0; i < id.size(); ++i) {
    const auto word = probe_read(registers + kPl011Identification + i * sizeof(u32));
    if (!word) return false;
    id[i] = static_cast<u8>(*word);
  }
  return is_pl011(id);
}

void uart_init(VirtAddr registers) {
  const RegisterBlock block(registers);
  if (!block.is_mapped()) {
    uart = block;
    return;
  }
  block.write32(kInterruptMask, 0);
  block.write32(kControl, block.read32(kControl) | kUartEnable | kTransmitEnable | kReceiveEnable);
  uart = block;
}

void uart_put(char c) {
  if (!uart.is_mapped()) return;
  is_stuck = !poll([] { return (uart.read32(kFlags) & kTransmitFull) == 0; }, is_stuck ? 1 : kTransmitTurns);
  if (is_stuck) return;
  uart.write32(kData, static_cast<unsigned char>(c));
}

std::optional<char> uart_get() {
  if (!uart.is_mapped() || (uart.read32(kFlags) & kReceiveEmpty) != 0) return std::nullopt;
  // The upper bits tell framing, parity, break and overrun errors; the character is what there is.
  return static_cast<char>(uart.read32(kData) & 0xff);
}

void uart_enable_receive_interrupt() {
  if (uart.is_mapped()) uart.write32(kInterruptMask, kReceiveInterrupt | kReceiveTimeoutInterrupt);
}

}  // namespace atl::arch
