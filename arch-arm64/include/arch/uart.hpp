// Seam: the console UART (PL011).
#pragma once

#include <optional>

#include "lib/address.hpp"

namespace atl::arch {

/// Whether a UART answers at `registers`, a mapping of 4 KiB: with `identifies` as a PL011, else at all. Writes
/// nothing. An address where nothing is gives false.
bool uart_answers(VirtAddr registers, bool identifies);
/// Uses the PL011 registers mapped at `registers` from now on; may be called again with a new mapping. At address 0
/// there is no UART: from now on characters are dropped.
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
