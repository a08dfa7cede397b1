// The monitor's `percpu CPU [PATTERN]`.
//
// Not part of the lean kernel, whose size is a published figure (tools/mk/kernel.mk).
#pragma once

#include <string_view>

#include "kernel/command_table.hpp"

namespace atl {

/// Prints that CPU's variables, read through its global alias. `arguments` is what follows the command. Null in the
/// lean kernel.
[[gnu::weak]] CommandResult percpu_command(std::string_view arguments);

}  // namespace atl
