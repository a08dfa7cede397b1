#include "kernel/line_editor.hpp"

#include "lib/format.hpp"

namespace atl {
namespace {

constexpr char kCancel = 0x03;  // ^C
constexpr char kBell = 0x07;
constexpr char kBackspace = 0x08;
constexpr char kKillLine = 0x15;  // ^U
constexpr char kEscape = 0x1b;
constexpr char kDelete = 0x7f;

}  // namespace

LineEditor::State LineEditor::feed(char c) {
  switch (c) {
    case '\r':
    case '\n': print("\n"); return State::complete;
    case kCancel:
      print("^C\n");
      length_ = 0;
      return State::cancelled;
    case kBackspace:
    case kDelete: erase(1); return State::editing;
    case kKillLine: erase(length_); return State::editing;
    default: break;
  }
  if (is_in_escape(c)) return State::editing;
  const bool printable = c >= ' ' && c < kDelete;
  if (!printable || length_ == buffer_.size()) {
    print("{}", kBell);
    return State::editing;
  }
  buffer_[length_++] = c;
  print("{}", c);
  return State::editing;
}

/// Whether `c` belongs to an escape sequence, and goes with it.
bool LineEditor::is_in_escape(char c) {
  const Escape before = escape_;
  escape_ = Escape::none;
  if (c == kEscape) {
    escape_ = Escape::begun;
    print("{}", kBell);
    return true;
  }
  if (before == Escape::none || c < ' ') return false;
  // After ESC one character, which `[` and `O` say is not the last.
  const bool goes_on = before == Escape::begun ? c == '[' || c == 'O' : c < '@';
  if (goes_on) escape_ = Escape::in_sequence;
  return true;
}

void LineEditor::erase(usize count) {
  for (; count > 0 && length_ > 0; --count, --length_) print("\b \b");
}

}  // namespace atl
