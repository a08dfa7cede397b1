// Runs the kernel's selftests and reports in KTAP. Tests are written with tests/kernel/selftest.hpp; the lean
// kernel has none, and a run of none fails.
#pragma once

#include <array>
#include <source_location>
#include <span>
#include <string_view>

#include "lib/format.hpp"
#include "lib/types.hpp"

namespace atl {

struct Selftest {
  static constexpr usize kMaxSkips = 4;

  const char* name;  ///< no blanks, unique
  void (*run)();
  /// The reasons for which this test may be skipped; any other skip is a failure.
  std::array<const char*, kMaxSkips> may_skip{};
};

struct SelftestSummary {
  unsigned passed = 0;
  unsigned failed = 0;
  unsigned skipped = 0;

  /// Nothing matched the pattern: no test has run, and nothing is shown.
  bool is_empty() const { return passed + failed + skipped == 0; }
};

/// Runs those whose name matches the pattern (kernel/glob.hpp), by name, in a thread of the boot CPU with IRQs
/// enabled. Prints the plan first, and a line for each. Panics if it has not run exactly what it planned.
SelftestSummary run_selftests(std::span<const Selftest* const> tests, std::string_view pattern);

// For the running test, from any CPU and context. A check that fails is recorded and printed; the test goes on.

/// A test that is neither skipped nor ever checks anything fails.
void selftest_checked();
void selftest_fail_with(std::source_location where, const char* format,
                        std::span<const FormatArgument> arguments);
template <class... Args>
void selftest_fail(LocatedFormat<std::type_identity_t<Args>...> format, const Args&... args) {
  const std::array<FormatArgument, sizeof...(Args)> list{FormatArgument(args)...};
  selftest_fail_with(format.where, format.text, list);
}
/// The test returns after this; `reason` is one of its `may_skip`.
void selftest_skip(const char* reason);

}  // namespace atl
