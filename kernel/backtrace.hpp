// Who called whom: follows the chain of frame records (AAPCS64: x29 points at {caller's x29, return address}).
#pragma once

#include <span>

#include "lib/address.hpp"

namespace atl {

inline constexpr usize kMaxBacktrace = 32;

/// Stores return addresses, innermost first, and returns how many. Ends at the first record that is not 8-byte
/// aligned, not wholly inside one of `stacks`, or not above the one before; a chain that leaves a stack for
/// another never comes back to it. So a corrupt chain ends too, and nothing outside the stacks is read.
usize walk_frame_records(VirtAddr frame_pointer, std::span<const VirtRange> stacks,
                         std::span<u64> return_addresses);

/// One line for `address`, with the name of its function if it is in the kernel.
void print_code_address(const char* label, VirtAddr address);
/// A line for each. A return address is named by the call before it: a call that never returns may end its
/// function, and then the address is the next one's.
void print_backtrace(std::span<const u64> return_addresses);

}  // namespace atl
