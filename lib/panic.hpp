// The end of the road for broken invariants. Never for bad input or lack of memory at run time:
// those are `Result`s.
#pragma once

#include <source_location>
#include <utility>

#include "lib/format.hpp"

namespace atl {

/// Stops every other CPU, prints one report and ends the machine with a non-zero status.
/// Any context. Defined by kernel/panic.cpp; on the host it throws `PanicException`
/// (tests/host/support.hpp), so that a test can expect it.
[[noreturn]] void panic_with(std::source_location where, const char* format,
                             std::span<const FormatArgument> arguments);

/// `panic("slot {} of {} is not free", slot, n);`
template <class... Args>
[[noreturn]] void panic(LocatedFormat<std::type_identity_t<Args>...> format, const Args&... args) {
  const std::array<FormatArgument, sizeof...(Args)> list{FormatArgument(args)...};
  panic_with(format.where, format.text, list);
}

}  // namespace atl

/// States an invariant that holds in every build.
#define ATOLL_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::atl::panic("assertion failed: {}", #condition))
