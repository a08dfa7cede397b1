// Commands by name: what the monitor's prompt and `run=` share.
#pragma once

#include <span>
#include <string_view>

#include "lib/types.hpp"

namespace atl {

struct Command {
  std::string_view name;
  const char* help;  ///< one line
  /// `arguments` is the rest of the line. Returns how many things failed.
  unsigned (*run)(std::string_view arguments);
};

/// Runs the line's first word with the rest; a blank line does nothing. Returns its failures; an unknown command
/// is named, and is one.
unsigned run_line(std::span<const Command> commands, std::string_view line);

/// Runs lines separated by commas, in order, all of them whatever fails. Returns the sum of their failures.
/// Before each, `failures_so_far` holds those of the earlier ones: `poweroff` reports it.
unsigned run_list(std::span<const Command> commands, std::string_view list, unsigned& failures_so_far);

/// A line for each command.
void print_help(std::span<const Command> commands);

}  // namespace atl
