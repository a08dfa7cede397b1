// Commands by name: what the monitor's prompt and `run=` share.
#pragma once

#include <span>
#include <string_view>

#include "lib/types.hpp"

namespace atl {

/// How many of the things that a command checked failed; or that it was refused: it was asked, and has said so, for
/// something that there is not.
class CommandResult {
 public:
  constexpr CommandResult(unsigned failed) : failed_(failed) {}
  static constexpr CommandResult refused() {
    CommandResult result(0);
    result.is_refused_ = true;
    return result;
  }

  constexpr bool is_refused() const { return is_refused_; }
  constexpr unsigned failed() const { return failed_; }
  friend constexpr bool operator==(const CommandResult&, const CommandResult&) = default;

 private:
  unsigned failed_;
  bool is_refused_ = false;
};

struct Command {
  std::string_view name;
  const char* help;  ///< one line
  /// `arguments` is the rest of the line.
  CommandResult (*run)(std::string_view arguments);
};

/// Runs the line's first word with the rest; a blank line does nothing. An unknown command is named, and refused.
CommandResult run_line(std::span<const Command> commands, std::string_view line);

/// Runs lines separated by commas, in order, all of them whatever fails. Returns the sum of their failures, where
/// being refused counts as one: a list is written beforehand, and what it asks for must happen.
/// Before each, `failures_so_far` holds those of the earlier ones: `poweroff` reports it.
unsigned run_list(std::span<const Command> commands, std::string_view list, unsigned& failures_so_far);

/// A line for each command.
void print_help(std::span<const Command> commands);

}  // namespace atl
