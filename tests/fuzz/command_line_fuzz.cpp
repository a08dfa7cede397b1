// libFuzzer over the command line.
#include <cstddef>
#include <string>

#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/invariants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const atl::u8* data, size_t size) {
  // A copy that ends where the text does, for the sanitizer to watch.
  const std::string text(reinterpret_cast<const char*>(data), size);
  atl::fuzz::require_none(atl::fuzz::check_command_line(text));
  return 0;
}
