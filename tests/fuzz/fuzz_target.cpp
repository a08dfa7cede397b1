#include "tests/fuzz/fuzz_target.hpp"

#include <cstdio>
#include <cstdlib>

#include "lib/panic.hpp"
#include "tests/fuzz/text_sink.hpp"

namespace atl {

/// No input may reach a panic in the pure stages of the boot.
void panic_with(std::source_location, const char* format, std::span<const FormatArgument> arguments) {
  std::string message = "panic: ";
  fuzz::TextSink sink(message);
  format_to(sink, format, arguments);
  fuzz::require_none(message);
  std::abort();
}

namespace fuzz {

void require_none(const std::optional<std::string>& broken) {
  if (!broken) return;
  std::fprintf(stderr, "invariant: %s\n", broken->c_str());
  std::abort();
}

}  // namespace fuzz
}  // namespace atl
