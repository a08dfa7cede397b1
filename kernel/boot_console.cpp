#include "kernel/boot_console.hpp"

#include <expected>

#include "arch-arm64/documented_uart.hpp"
#include "arch/uart.hpp"
#include "kernel/boot_root.hpp"
#include "kernel/console.hpp"
#include "lib/format.hpp"
#include "mm/layout.hpp"
#include "mm/physical_memory.hpp"

namespace atl {
namespace {

using mm::KernelLayout;

/// Where the console is; empty as long as there is none.
constinit PhysRange g_registers;
constinit std::optional<arch::IrqNumber> g_interrupt;

/// Maps a UART's registers into `window`, if it is one; else says why it is not used, and leaves the window empty.
std::expected<VirtAddr, const char*> find_uart(VirtRange window, PhysRange uart, bool identifies) {
  const auto mapping = map_in_boot_root(window, uart, arch::kKernelDevice);
  if (!mapping) return std::unexpected("cannot be mapped");
  if (arch::uart_answers(*mapping, identifies)) return *mapping;
  unmap_from_boot_root(window);
  return std::unexpected("does not answer as a PL011");
}

}  // namespace

void open_early_console() {
  console_init();
  // Should there be none, there is nothing to say it on.
  const PhysRange registers{arch::kDocumentedUart, arch::kUartBytes};
  const auto uart = find_uart(KernelLayout::kFixConsole, registers, true);
  if (!uart) return;
  arch::uart_init(*uart);
  g_registers = registers;
}

void move_early_console(const KernelOptions& options) {
  if (!options.earlycon) return;
  // A window of its own: what is mapped stays as it is.
  const PhysRange registers{*options.earlycon, arch::kUartBytes};
  if (mm::memory_map().overlaps_ram(registers)) {
    return print("earlycon: the UART at {} lies in RAM; not used\n", registers.start);
  }
  const auto uart = find_uart(KernelLayout::kFixEarlycon, registers, true);
  if (!uart) return print("earlycon: the UART at {} {}; not used\n", registers.start, uart.error());
  arch::uart_init(*uart);
  g_registers = registers;
}

PhysRange console_registers(const Machine& machine) {
  if (!machine.console) return g_registers;
  const auto& [registers, identifies, irq] = *machine.console;
  const auto uart = find_uart(KernelLayout::kFixProbe, registers, identifies);
  if (!uart) {
    print("console: the device tree's UART at {} {}; not used\n", registers.start, uart.error());
    return g_registers;
  }
  unmap_from_boot_root(KernelLayout::kFixProbe);
  g_registers = registers;
  g_interrupt = irq;
  return g_registers;
}

std::optional<arch::IrqNumber> console_interrupt() { return g_interrupt; }

}  // namespace atl
