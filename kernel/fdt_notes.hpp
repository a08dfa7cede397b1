// What there is to say about a device tree: one line each, and a bound on them, since a tree can be wrong in ten
// thousand places and the console takes its time.
#pragma once

#include "lib/fault.hpp"
#include "lib/format.hpp"

namespace atl {

class FdtNotes {
 public:
  /// Faults of real trees come in ones and twos.
  static constexpr unsigned kMaxLines = 40;

  explicit FdtNotes(FormatSink& sink) : sink_(sink) {}

  template <class... Args>
  void note(LocatedFormat<std::type_identity_t<Args>...> text, const Args&... args) {
    if (++lines_ <= kMaxLines || kFault == Fault::notes_unbounded) write(text, args...);
  }
  /// The last line, whatever came before it; says first how many were too many.
  template <class... Args>
  void conclude(LocatedFormat<std::type_identity_t<Args>...> text, const Args&... args) {
    finish();
    write(text, args...);
  }
  /// There are no more.
  void finish() {
    if (lines_ > kMaxLines) write("{} more remarks left out", lines_ - kMaxLines);
    lines_ = 0;
  }

 private:
  template <class... Args>
  void write(LocatedFormat<std::type_identity_t<Args>...> text, const Args&... args) {
    sink_.write("device tree: ");
    format(sink_, text, args...);
    sink_.write("\n");
  }

  FormatSink& sink_;
  unsigned lines_ = 0;
};

}  // namespace atl
