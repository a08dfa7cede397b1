#include "lib/format.hpp"

#include <algorithm>
#include <atomic>

#include "lib/fault.hpp"

namespace atl {
namespace {

/// An unsigned number's digits, written from the back of the buffer: 2^64 - 1 has 20 of them.
class Digits {
 public:
  Digits(u64 number, unsigned base) {
    do {
      const unsigned digit = static_cast<unsigned>(number % base);
      buffer_[--first_] = static_cast<char>(digit < 10 ? '0' + digit : 'a' + digit - 10);
      number /= base;
    } while (number != 0);
  }
  std::string_view text() const { return {buffer_.data() + first_, buffer_.size() - first_}; }

 private:
  std::array<char, 20> buffer_;
  usize first_ = 20;
};

void pad(FormatSink& sink, char fill, usize written, unsigned width) {
  for (; written < width; ++written) sink.write({&fill, 1});
}

/// Numbers are right-aligned; zeros go between sign or prefix and digits, spaces before both.
void write_number(FormatSink& sink, const FieldSpec& spec, bool negative, u64 magnitude, unsigned base,
                  bool prefix) {
  const Digits digits(magnitude, base);
  const std::string_view sign = negative ? "-" : "";
  const std::string_view base_prefix = prefix ? "0x" : "";
  const usize length = sign.size() + base_prefix.size() + digits.text().size();
  if (!spec.zero_padded) pad(sink, ' ', length, spec.width);
  sink.write(sign);
  sink.write(base_prefix);
  if (spec.zero_padded) pad(sink, '0', length, spec.width);
  sink.write(digits.text());
}

constexpr bool is_printable(char c) {
  if constexpr (kFault == Fault::control_characters_printed) return true;
  return c >= ' ' && c <= '~';
}

/// Text is left-aligned. It may come from outside, a device tree or a command line, which must not speak to the
/// terminal nor begin a line of its own.
void write_text(FormatSink& sink, const FieldSpec& spec, std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = std::ranges::find_if_not(rest, is_printable);
    const usize printable = static_cast<usize>(end - rest.begin());
    if (printable > 0) sink.write(rest.substr(0, printable));
    if (printable < rest.size()) sink.write("?");
    rest.remove_prefix(std::min(printable + 1, rest.size()));
  }
  pad(sink, ' ', text.size(), spec.width);
}

/// A single character is what the caller means to send, a bell as well.
void write_character(FormatSink& sink, const FieldSpec& spec, char character) {
  sink.write({&character, 1});
  pad(sink, ' ', 1, spec.width);
}

void write_foreign(FormatSink& sink, std::string_view text) {
  const std::string_view shown = text.substr(0, ForeignText::kShown);
  write_text(sink, {}, shown);
  if (shown.size() < text.size()) sink.write("...");
}

void write_field(FormatSink& sink, const FieldSpec& spec, const FormatArgument& argument) {
  using Kind = FormatArgument::Kind;
  const u64 number = argument.number();
  const char character = static_cast<char>(number);
  const bool hexadecimal = spec.type == 'x';
  switch (argument.kind()) {
    case Kind::text: return write_text(sink, spec, argument.text());
    case Kind::foreign_text: return write_foreign(sink, argument.text());
    case Kind::boolean: return write_text(sink, spec, number != 0 ? "true" : "false");
    case Kind::address: return write_number(sink, spec, false, number, 16, true);
    case Kind::character:
      if (!hexadecimal && spec.type != 'd') return write_character(sink, spec, character);
      break;
    case Kind::signed_number: {
      const bool negative = !hexadecimal && static_cast<i64>(number) < 0;
      return write_number(sink, spec, negative, negative ? 0 - number : number, hexadecimal ? 16 : 10,
                          hexadecimal && spec.prefix);
    }
    case Kind::unsigned_number:
      if (spec.type == 'c') return write_character(sink, spec, character);
      break;
  }
  write_number(sink, spec, false, number, hexadecimal ? 16 : 10, hexadecimal && spec.prefix);
}

constinit std::atomic<FormatSink*> print_sink{nullptr};

}  // namespace

void format_to(FormatSink& sink, const char* format, std::span<const FormatArgument> arguments) {
  std::string_view rest(format);
  while (!rest.empty()) {
    const usize plain = std::min(rest.find_first_of("{}"), rest.size());
    if (plain != 0) sink.write(rest.substr(0, plain));
    rest.remove_prefix(plain);
    if (rest.empty()) return;
    const usize close = rest.find('}');
    if (rest.size() >= 2 && rest[1] == rest[0]) {
      sink.write(rest.substr(0, 1));
      rest.remove_prefix(2);
      continue;
    }
    // Compile-time checked texts never come here without a field and its argument.
    if (close == std::string_view::npos || rest[0] == '}' || arguments.empty()) return sink.write(rest);
    write_field(sink, FieldSpec::parse(rest.substr(1, close - 1)), arguments.front());
    arguments = arguments.subspan(1);
    rest.remove_prefix(close + 1);
  }
}

void BufferSink::write(std::string_view text) {
  if (buffer_.empty()) {
    truncated_ = truncated_ || !text.empty();
    return;
  }
  const usize taken = std::min(text.size(), buffer_.size() - 1 - length_);
  std::copy_n(text.data(), taken, buffer_.data() + length_);
  length_ += taken;
  buffer_[length_] = '\0';
  truncated_ = truncated_ || taken < text.size();
}

void set_print_sink(FormatSink* sink) { print_sink.store(sink, std::memory_order_release); }

namespace {

template <class Write>
void print_message(Write write) {
  FormatSink* sink = print_sink.load(std::memory_order_acquire);
  if (sink == nullptr) return;
  sink->begin_message();
  write(*sink);
  sink->end_message();
}

}  // namespace

void print_with(const char* format, std::span<const FormatArgument> arguments) {
  print_message([&](FormatSink& sink) { format_to(sink, format, arguments); });
}

void print_formatted(std::string_view text) {
  print_message([&](FormatSink& sink) { sink.write(text); });
}

}  // namespace atl
