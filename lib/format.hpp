// Type-safe formatting into a sink, without allocation: `print("{} of {:#x}\n", a, b)`.
//
// Grammar: `{}` or `{:spec}` with spec = ['#'] ['0'] [width] ['x' | 'd' | 's' | 'c'], and `{{`, `}}`.
// Grammar and number of arguments are checked at compile time. Control characters and what is not ASCII are `?` in a
// text argument; a character argument is written as it is.
#pragma once

#include <array>
#include <concepts>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>

#include "lib/address.hpp"
#include "lib/types.hpp"

namespace atl {

/// Text that came from outside and may be long: no more of it is printed than a line bears.
struct ForeignText {
  static constexpr usize kShown = 64;
  std::string_view text;
};

/// One argument, its type erased to what the formatter can print.
class FormatArgument {
 public:
  enum class Kind : u8 { unsigned_number, signed_number, text, foreign_text, character, boolean, address };

  constexpr FormatArgument() = default;
  constexpr FormatArgument(bool b) : kind_(Kind::boolean), number_(b) {}
  constexpr FormatArgument(char c) : kind_(Kind::character), number_(static_cast<u8>(c)) {}
  template <std::unsigned_integral T>
  constexpr FormatArgument(T n) : number_(n) {}
  template <std::signed_integral T>
  constexpr FormatArgument(T n) : kind_(Kind::signed_number), number_(static_cast<u64>(i64{n})) {}
  constexpr FormatArgument(std::string_view s) : kind_(Kind::text), text_(s) {}
  constexpr FormatArgument(const char* s)
      : kind_(Kind::text), text_(s == nullptr ? std::string_view("(null)") : std::string_view(s)) {}
  constexpr FormatArgument(ForeignText s) : kind_(Kind::foreign_text), text_(s.text) {}
  template <class Tag>
  constexpr FormatArgument(Address<Tag> a) : kind_(Kind::address), number_(a.value()) {}
  FormatArgument(const void* p) : kind_(Kind::address), number_(reinterpret_cast<u64>(p)) {}

  constexpr Kind kind() const { return kind_; }
  constexpr u64 number() const { return number_; }
  constexpr std::string_view text() const { return text_; }

 private:
  Kind kind_ = Kind::unsigned_number;
  u64 number_ = 0;
  std::string_view text_;
};

/// One field's spec: what stands between '{' and '}'.
struct FieldSpec {
  bool prefix = false;       ///< '#': "0x" before hexadecimal digits
  bool zero_padded = false;  ///< '0': zeros instead of spaces, after sign and prefix
  unsigned width = 0;        ///< at least so many characters; numbers to the right, text to the left
  char type = '\0';          ///< 'x', 'd', 's', 'c', or 0: as the argument's kind suggests
  bool valid = true;

  static constexpr FieldSpec parse(std::string_view text) {
    FieldSpec spec;
    const auto take = [&text](auto accepts) {
      if (text.empty() || !accepts(text.front())) return '\0';
      const char c = text.front();
      text.remove_prefix(1);
      return c;
    };
    if (text.empty()) return spec;
    spec.valid = take([](char c) { return c == ':'; }) != '\0';
    spec.prefix = take([](char c) { return c == '#'; }) != '\0';
    spec.zero_padded = take([](char c) { return c == '0'; }) != '\0';
    while (const char c = take([](char d) { return d >= '0' && d <= '9'; })) {
      spec.width = spec.width * 10 + static_cast<unsigned>(c - '0');
    }
    spec.type = take([](char c) { return c == 'x' || c == 'd' || c == 's' || c == 'c'; });
    spec.valid = spec.valid && text.empty();
    return spec;
  }
};

/// The number of `{…}` fields in `text`, or -1 if it is malformed.
constexpr int count_fields(std::string_view text) {
  int fields = 0;
  for (usize i = 0; i < text.size(); ++i) {
    if (text[i] != '{' && text[i] != '}') continue;
    if (i + 1 < text.size() && text[i + 1] == text[i]) {
      ++i;
      continue;
    }
    const usize close = text.find('}', i);
    if (text[i] == '}' || close == std::string_view::npos) return -1;
    if (!FieldSpec::parse(text.substr(i + 1, close - i - 1)).valid) return -1;
    ++fields;
    i = close;
  }
  return fields;
}

/// Not constexpr, so that reaching it in constant evaluation is the compile error it names.
inline void fields_and_arguments_differ() {}

/// A format text whose fields were counted at compile time, with the place it was written.
template <class... Args>
struct LocatedFormat {
  const char* text;
  std::source_location where;

  consteval LocatedFormat(const char* t, std::source_location w = std::source_location::current())
      : text(t), where(w) {
    if (count_fields(t) != static_cast<int>(sizeof...(Args))) fields_and_arguments_differ();
  }
};

/// Where formatted text goes. `write` may be called several times for one message.
class FormatSink {
 public:
  virtual void write(std::string_view text) = 0;
  /// `print` calls these around each message, so that a sink shared by CPUs can keep messages whole.
  virtual void begin_message() {}
  virtual void end_message() {}

 protected:
  ~FormatSink() = default;
};

void format_to(FormatSink& sink, const char* format, std::span<const FormatArgument> arguments);

/// Formats into `buffer`, always NUL-terminated, cut where it does not fit. Returns the text.
class BufferSink final : public FormatSink {
 public:
  explicit BufferSink(std::span<char> buffer) : buffer_(buffer) {
    if (!buffer_.empty()) buffer_[0] = '\0';
  }
  void write(std::string_view text) override;
  std::string_view text() const { return {buffer_.data(), length_}; }
  bool truncated() const { return truncated_; }

 private:
  std::span<char> buffer_;
  usize length_ = 0;
  bool truncated_ = false;
};

/// The sink that `print` writes to. Set once by the kernel's console (host: stdout); until then
/// printed text is dropped. Any context; the sink does its own locking.
void set_print_sink(FormatSink* sink);
void print_with(const char* format, std::span<const FormatArgument> arguments);
/// What has been formatted already, line breaks included.
void print_formatted(std::string_view text);

template <class... Args>
void print(LocatedFormat<std::type_identity_t<Args>...> format, const Args&... args) {
  const std::array<FormatArgument, sizeof...(Args)> list{FormatArgument(args)...};
  print_with(format.text, list);
}

template <class... Args>
void format(FormatSink& sink, LocatedFormat<std::type_identity_t<Args>...> text, const Args&... args) {
  const std::array<FormatArgument, sizeof...(Args)> list{FormatArgument(args)...};
  format_to(sink, text.text, list);
}

}  // namespace atl
