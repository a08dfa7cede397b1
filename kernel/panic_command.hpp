// The monitor's `panic`: every way into a panic's report that has to be tested on a running kernel.
#pragma once

#include <string_view>

#include "kernel/command_table.hpp"

namespace atl {

/// `arguments`: nothing, or in what state of the machine the panic happens; docs/boot.md lists the forms. Comes back
/// only if it did not, with a line that says so, and is then refused. Boot CPU, IRQs enabled, all CPUs idle.
CommandResult panic_command(std::string_view arguments);
inline constexpr const char* kPanicForms =
    "[fault | overflow CPU | together | masked | nested | chain | locked] ends with a report and status 2";

}  // namespace atl
