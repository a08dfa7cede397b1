// libFuzzer over the device tree, with mutations by structure beside its own.
#include <algorithm>
#include <cstddef>

#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/invariants.hpp"
#include "tests/fuzz/mutator.hpp"

extern "C" size_t LLVMFuzzerMutate(atl::u8* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(atl::u8* data, size_t size, size_t most, unsigned seed) {
  if (seed % 3 == 0) return LLVMFuzzerMutate(data, size, most);
  const atl::fuzz::Mutant mutant = atl::fuzz::mutate({data, size}, seed, atl::fuzz::kSevere);
  const size_t kept = std::min(mutant.bytes.size(), most);
  std::copy_n(mutant.bytes.begin(), kept, data);
  return kept;
}

extern "C" int LLVMFuzzerTestOneInput(const atl::u8* data, size_t size) {
  atl::fuzz::require_none(atl::fuzz::check_device_tree({data, size}));
  return 0;
}
