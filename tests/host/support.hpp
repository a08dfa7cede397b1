// What every host test may lean on: panics as exceptions, printed text as a string, a tidy start.
#pragma once

#include <gtest/gtest.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lib/format.hpp"
#include "lib/result.hpp"

namespace atl::host {

/// What `panic(…)` throws on the host: the formatted message, and where it was written.
class PanicException : public std::runtime_error {
 public:
  PanicException(const std::string& message, std::source_location where)
      : std::runtime_error(message), where_(where) {}
  std::source_location where() const { return where_; }

 private:
  std::source_location where_;
};

/// A sink that keeps everything.
class StringSink final : public FormatSink {
 public:
  void write(std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Redirects `print` into a string for its lifetime; stdout again afterwards.
class CapturedPrint {
 public:
  CapturedPrint();
  ~CapturedPrint();
  CapturedPrint(const CapturedPrint&) = delete;
  CapturedPrint& operator=(const CapturedPrint&) = delete;
  const std::string& text() const { return sink_.text(); }

 private:
  StringSink sink_;
};

/// `formatted("{:#x}", 16)` is "0x10".
template <class... Args>
std::string formatted(LocatedFormat<std::type_identity_t<Args>...> text, const Args&... args) {
  StringSink sink;
  format(sink, text, args...);
  return sink.text();
}

/// Runs `body` and returns the message it panicked with, or "" if it did not.
template <class Body>
std::string panic_message(Body&& body) {
  try {
    body();
  } catch (const PanicException& panic) {
    return panic.what();
  }
  return {};
}

}  // namespace atl::host

/// The statement panics, and the message contains `part`.
#define EXPECT_PANIC(statement, part)                                                         \
  do {                                                                                        \
    const std::string atoll_message = ::atl::host::panic_message([&] { statement; });       \
    EXPECT_NE(atoll_message, "") << "no panic from: " #statement;                             \
    EXPECT_NE(atoll_message.find(part), std::string::npos) << "panicked with: " << atoll_message; \
  } while (false)
