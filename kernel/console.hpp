// The console: what `print` writes to, and lines that a user types.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "arch/interrupts.hpp"

namespace atl {

/// `print` goes to the UART from now on; whoever has mapped it called arch::uart_init.
/// Messages are kept whole. A CPU that cannot get the console for a second prints all the same.
void console_init();

/// Characters that arrive raise `irq` on this CPU from now on. Where there is none, or the controller has no such line,
/// whoever reads a line looks for them itself, 50 times a second, and a line says so. Once, IRQs masked or not.
void console_start_input(std::optional<arch::IrqNumber> irq);

/// Waits in WFI for a line, with editing (kernel/line_editor.hpp); "" if it was cancelled. One reader, on the
/// CPU that called console_start_input, IRQs enabled. The text lies in `buffer`.
std::string_view console_read_line(std::span<char> buffer);

/// For a panic: whoever holds the console is not waited for. It may be stopped, or be this CPU, which then never
/// returns to its message.
void console_break_lock();

/// For the test of that: takes the console, as a message does, and keeps it. IRQs are masked from then on.
void console_take();

}  // namespace atl
