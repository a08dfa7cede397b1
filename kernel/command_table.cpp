#include "kernel/command_table.hpp"

#include <algorithm>

#include "lib/format.hpp"

namespace atl {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const usize first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

CommandResult run_line(std::span<const Command> commands, std::string_view line) {
  line = trimmed(line);
  if (line.empty()) return 0;
  const std::string_view name = line.substr(0, line.find_first_of(kBlanks));
  const auto command = std::ranges::find(commands, name, &Command::name);
  if (command == commands.end()) {
    print("unknown command \"{}\"; `help` lists them\n", ForeignText{name});
    return CommandResult::refused();
  }
  return command->run(trimmed(line.substr(name.size())));
}

unsigned run_list(std::span<const Command> commands, std::string_view list, unsigned& failures_so_far) {
  unsigned failures = 0;
  while (!list.empty()) {
    const usize comma = std::min(list.find(','), list.size());
    const CommandResult result = run_line(commands, list.substr(0, comma));
    const unsigned failed = result.failed() + result.is_refused();
    failures += failed;
    failures_so_far += failed;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return failures;
}

void print_help(std::span<const Command> commands) {
  for (const Command& command : commands) {
    // The format has no left alignment: pad by hand.
    print("  {}{}{}\n", command.name,
          std::string_view("            ").substr(std::min<usize>(command.name.size(), 11)), command.help);
  }
}

}  // namespace atl
