#include "kernel/boot_console.hpp"

#include "arch-arm64/documented_uart.hpp"
#include "arch/uart.hpp"
#include "kernel/boot_root.hpp"
#include "kernel/console.hpp"
#include "lib/format.hpp"
#include "mm/layout.hpp"

namespace atl {
namespace {

constinit PhysRange g_registers{arch::kDocumentedUart, arch::kUartBytes};

Result<> use(VirtRange window, PhysRange registers) {
  arch::uart_init(TRY(map_in_boot_root(window, registers, arch::kKernelDevice)));
  g_registers = registers;
  return {};
}

}  // namespace

void open_early_console() {
  // Should it fail, there is nothing to say it on.
  static_cast<void>(use(mm::KernelLayout::kFixConsole, g_registers));
  console_init();
}

void move_early_console(const KernelOptions& options) {
  if (!options.earlycon) return;
  // A window of its own: what is mapped stays as it is, and nothing has to be flushed.
  const Result<> result = use(mm::KernelLayout::kFixEarlycon, {*options.earlycon, arch::kUartBytes});
  if (!result) print("earlycon: {}: {}; not used\n", *options.earlycon, to_string(result.error().error));
}

PhysRange console_registers(const Machine& machine) {
  return machine.console ? machine.console->registers : g_registers;
}

}  // namespace atl
