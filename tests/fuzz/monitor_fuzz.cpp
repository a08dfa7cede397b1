// libFuzzer over what is typed at the monitor's prompt.
#include <cstddef>
#include <string>

#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/invariants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const atl::u8* data, size_t size) {
  const std::string keys(reinterpret_cast<const char*>(data), size);
  atl::fuzz::require_none(atl::fuzz::check_keys(keys));
  return 0;
}
