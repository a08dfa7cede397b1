// Seam: the console UART (PL011).
#pragma once

#include <optional>

#include "lib/address.hpp"

namespace atl::arch {

/// Uses the PL011 registers mapped at `registers` from now on; may be called again with a new mapping.
void uart_init(VirtAddr registers);
/// Polls until there is room, at most a bounded number of turns: a dead UART never hangs the kernel. Once that was in
/// vain, characters are dropped without waiting until there is room.
/// Before `uart_init` it drops the character. Any context; the caller serialises.
void uart_put(char c);
/// A received character, or nothing. Never blocks.
std::optional<char> uart_get();
/// Lets the UART raise its interrupt while received characters wait. Its line is enabled by the caller.
void uart_enable_receive_interrupt();

}  // namespace atl::arch
