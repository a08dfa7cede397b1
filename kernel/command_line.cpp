#include "kernel/command_line.hpp"

#include <algorithm>
#include <array>

#include "lib/config.hpp"

namespace atl {
namespace {

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool same_name(std::string_view a, std::string_view b) {
  const auto folded = [](char c) { return c == '_' ? '-' : c; };
  return std::ranges::equal(a, b, [&](char x, char y) { return folded(x) == folded(y); });
}

std::string_view unquoted(std::string_view text) {
  if (text.starts_with('"')) text.remove_prefix(1);
  if (text.ends_with('"')) text.remove_suffix(1);
  return text;
}

std::optional<bool> parse_switch(std::string_view text) {
  for (const char* word : {"on", "1", "y", "yes"}) {
    if (text == word) return true;
  }
  for (const char* word : {"off", "0", "n", "no"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

using Value = std::optional<std::string_view>;

/// How one name is understood. `apply` sets the option to its default and returns false for a bad value.
struct Rule {
  std::string_view name;
  const char* expected;
  bool (*apply)(KernelOptions& options, Value value);
};

bool apply_earlycon(KernelOptions& options, Value value) {
  options.earlycon.reset();
  if (!value) return true;
  constexpr std::string_view kDriver = "pl011,";
  constexpr std::string_view kAccess = "mmio32,";
  std::string_view address = *value;
  if (!address.starts_with(kDriver)) return false;
  address.remove_prefix(kDriver.size());
  if (address.starts_with(kAccess)) address.remove_prefix(kAccess.size());
  const auto number = parse_number(address, (u64{1} << 52) - 1);
  if (!number || *number % sizeof(u32) != 0) return false;
  options.earlycon = PhysAddr(*number);
  return true;
}

constexpr std::array kRules{
    Rule{"run", "commands separated by commas",
         [](KernelOptions& options, Value value) {
           options.run = value.value_or("");
           return !options.run.empty();
         }},
    Rule{"selftest", "a pattern such as percpu*",
         [](KernelOptions& options, Value value) {
           const bool given = value && !value->empty();
           options.selftest = given ? *value : "*";
           return given;
         }},
    Rule{"mem", "a size such as 512M",
         [](KernelOptions& options, Value value) {
           options.mem = parse_size(value.value_or(""));
           if (options.mem == 0) options.mem.reset();
           return options.mem.has_value();
         }},
    Rule{"maxcpus", "a number of CPUs",
         [](KernelOptions& options, Value value) {
           const auto count = parse_number(value.value_or(""), ~0u);
           options.maxcpus.reset();
           if (count) options.maxcpus = static_cast<unsigned>(*count);
           return count.has_value();
         }},
    Rule{"lse", "on or off",
         [](KernelOptions& options, Value value) {
           const auto on = parse_switch(value.value_or(""));
           options.lse = on.value_or(true);
           return on.has_value();
         }},
    Rule{"earlycon", "nothing, or pl011,ADDRESS", apply_earlycon},
};

/// Whether a word of this name comes before the one whose name is the view `name`.
bool seen_before(std::string_view text, std::string_view name) {
  CommandLineReader reader(text);
  while (const auto word = reader.next()) {
    if (word->name.data() == name.data()) return false;
    if (same_name(word->name, name)) return true;
  }
  return false;
}

}  // namespace

std::optional<CommandLineWord> CommandLineReader::next() {
  while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  bool quoted = false;
  usize equals = std::string_view::npos;
  usize end = 0;
  for (; end < rest_.size() && (quoted || !is_space(rest_[end])); ++end) {
    if (rest_[end] == '"') quoted = !quoted;
    if (rest_[end] == '=' && equals == std::string_view::npos) equals = end;
  }
  const std::string_view word = rest_.substr(0, end);
  rest_.remove_prefix(end);
  if (word.empty() || word == "--") {
    rest_ = {};
    return std::nullopt;
  }
  if (equals == std::string_view::npos || equals == 0) return CommandLineWord{unquoted(word), std::nullopt};
  // A quote before the name encloses the whole word: its end is the value's end.
  std::string_view name = word.substr(0, equals);
  if (name.starts_with('"')) name.remove_prefix(1);
  return CommandLineWord{name, unquoted(word.substr(equals + 1))};
}

std::optional<u64> parse_number(std::string_view text, u64 max) {
  u64 base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  if (text.empty()) return std::nullopt;
  u64 number = 0;
  for (char c : text) {
    u64 digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<u64>(c - '0');
    } else if (base == 16 && (c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<u64>((c | 0x20) - 'a') + 10;
    } else {
      return std::nullopt;
    }
    if (__builtin_mul_overflow(number, base, &number) || __builtin_add_overflow(number, digit, &number)) {
      return std::nullopt;
    }
  }
  if (number > max) return std::nullopt;
  return number;
}

std::optional<u64> parse_size(std::string_view text) {
  if (text.empty()) return std::nullopt;
  unsigned shift = 0;
  switch (text.back() | 0x20) {
    case 'k': shift = 10; break;
    case 'm': shift = 20; break;
    case 'g': shift = 30; break;
    case 't': shift = 40; break;
    default: return parse_number(text);
  }
  text.remove_suffix(1);
  const auto number = parse_number(text, ~u64{0} >> shift);
  if (!number) return std::nullopt;
  return *number << shift;
}

KernelOptions parse_command_line(std::string_view text, FormatSink& notes) {
  KernelOptions options;
  CommandLineReader reader(text);
  while (const auto word = reader.next()) {
    const auto rule =
        std::ranges::find_if(kRules, [&](const Rule& r) { return same_name(r.name, word->name); });
    if (rule == kRules.end()) {
      if (!seen_before(text, word->name))
        format(notes, "command line: \"{}\" is unknown; ignored\n", ForeignText{word->name});
    } else if (!rule->apply(options, word->value)) {
      format(notes, "command line: {}={}: expected {}; default used\n", rule->name,
             ForeignText{word->value.value_or("")}, rule->expected);
    }
  }
  return options;
}

}  // namespace atl
