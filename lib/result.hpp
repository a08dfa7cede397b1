// Errors as values. A `Result<T>` holds a T or a `Failure`, which says what and where.
#pragma once

#include <expected>
#include <source_location>
#include <utility>

#include "lib/types.hpp"

namespace atl {

enum class Error : u8 {
  no_memory,
  invalid_argument,
  out_of_range,
  already_exists,
  not_found,
  not_supported,
  busy,
  timed_out,
  denied,
  bad_firmware_data,
};

/// The error's name in words, for messages ("out of memory").
const char* to_string(Error error);

struct Failure {
  Error error;
  const char* file;
  u32 line;

  friend constexpr bool operator==(const Failure& f, Error e) { return f.error == e; }
};

template <class T = void>
using Result = std::expected<T, Failure>;

/// `return fail(Error::no_memory);` records the place it is called from.
constexpr std::unexpected<Failure> fail(Error error,
                                        std::source_location where = std::source_location::current()) {
  return std::unexpected(Failure{error, where.file_name(), where.line()});
}

}  // namespace atl

/// `T x = TRY(f());` gives the value, or returns f's failure from the enclosing function.
#define TRY(expression)                                                      \
  ({                                                                         \
    auto&& atoll_result = (expression);                                      \
    if (!atoll_result) [[unlikely]] return std::unexpected(atoll_result.error()); \
    *std::move(atoll_result);                                                \
  })
