// Writes one mutant of a device tree: mutant BASE SEED light|severe OUTPUT. Prints what was changed.
#include "tests/fuzz/mutator.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

int main(int count, char** words) {
  if (count != 5) {
    std::fprintf(stderr, "usage: mutant BASE SEED light|severe OUTPUT\n");
    return 2;
  }
  std::ifstream base(words[1], std::ios::binary);
  const std::vector<atl::u8> bytes{std::istreambuf_iterator<char>(base), {}};
  if (bytes.empty()) {
    std::fprintf(stderr, "mutant: %s is empty or not there\n", words[1]);
    return 1;
  }
  const bool is_light = std::string_view(words[3]) == "light";
  const atl::fuzz::Mutant mutant = atl::fuzz::mutate(bytes, std::strtoull(words[2], nullptr, 0),
                                                     is_light ? atl::fuzz::kLight : atl::fuzz::kSevere);
  std::ofstream output(words[4], std::ios::binary);
  output.write(reinterpret_cast<const char*>(mutant.bytes.data()),
               static_cast<std::streamsize>(mutant.bytes.size()));
  output.close();
  if (!output) {
    std::fprintf(stderr, "mutant: %s cannot be written\n", words[4]);
    return 1;
  }
  std::printf("%s\n", mutant.description.c_str());
}
