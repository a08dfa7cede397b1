// Per-CPU variables by name: what is linked into a unit, and what a copy of it holds.
#pragma once

#include <cstddef>
#include <string_view>

#include "kernel/command_table.hpp"
#include "kernel/ksymbols.hpp"

namespace atl {

/// A line for each variable whose name `pattern` matches: its bytes in `unit` as hexadecimal words,
/// as wide as its size divides, the first few of a long one. Refused if there is none. Any context that may print; a
/// variable that changes meanwhile may be seen half old, half new.
CommandResult print_variables(const PerCpuSymbols& symbols, const std::byte* unit, std::string_view pattern);

}  // namespace atl
