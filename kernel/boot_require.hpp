// Boot goes on or ends: at this stage no failure leaves a system that could run.
#pragma once

#include <type_traits>
#include <utility>

#include "lib/panic.hpp"
#include "lib/result.hpp"

namespace atl {

/// What `result` holds; panics with `what`, the error and where it came from if it holds none.
template <class T>
T require(Result<T> result, const char* what) {
  if (!result) {
    const Failure& failure = result.error();
    panic("boot: {}: {} ({}:{})", what, to_string(failure.error), failure.file, failure.line);
  }
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace atl
