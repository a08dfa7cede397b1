// Thousands of trees with mistakes in them (tests/fuzz/mutator.hpp), of every tree that the tests have: whatever they
// say, what the kernel makes of them is sound.
#include <sanitizer/common_interface_defs.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>

#include "tests/fuzz/flat_tree.hpp"
#include "tests/fuzz/invariants.hpp"
#include "tests/fuzz/mutator.hpp"
#include "tests/host/kernel/device_tree_fixture.hpp"

namespace atl {
namespace {

constexpr unsigned kMutants = 10'000;

struct Base {
  std::string name;
  std::vector<u8> bytes;
};

/// Packed: QEMU leaves room for growth, and a byte changed there changes nothing.
std::vector<Base> bases() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("build/dtb")) {
    if (entry.path().extension() == ".dtb") names.insert(entry.path().stem());
  }
  std::vector<Base> found;
  for (const std::string& name : names) {
    const auto tree = fuzz::FlatTree::read(host::Tree::board(name).bytes());
    EXPECT_TRUE(tree) << name;
    if (tree) found.push_back({name, tree->write()});
  }
  return found;
}

/// For the sanitizers' last word: they end the program where they find something.
std::string current;
void print_current() { std::fprintf(stderr, "the tree was %s\n", current.c_str()); }

TEST(DeviceTreeMutation, BasesKeepTheInvariants) {
  const std::vector<Base> every = bases();
  ASSERT_GE(every.size(), 10u) << "run from the project root after building the trees";
  for (const Base& base : every) EXPECT_EQ(fuzz::check_device_tree(base.bytes).value_or(""), "") << base.name;
}

TEST(DeviceTreeMutation, MutantsKeepTheInvariants) {
  __sanitizer_set_death_callback(print_current);
  const std::vector<Base> every = bases();
  ASSERT_FALSE(every.empty());
  auto next_report = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  unsigned broken = 0;
  for (unsigned seed = 0; seed < kMutants; ++seed) {
    const Base& base = every[seed % every.size()];
    const fuzz::Mutant mutant = fuzz::mutate(base.bytes, seed, fuzz::kSevere);
    current = host::formatted("{}, mutant {}: {}", base.name, seed, mutant.description);
    const std::string problem = fuzz::check_device_tree(mutant.bytes).value_or("");
    if (!problem.empty()) {
      ADD_FAILURE() << problem << "\n  " << current
                    << "\n  again: make build/fuzz/mutant && build/fuzz/mutant build/dtb/" << base.name
                    << ".dtb " << seed << " severe mutant.dtb";
      if (++broken == 10) break;
    }
    if (std::chrono::steady_clock::now() > next_report) {
      std::printf("  %u of %u mutants\n", seed, kMutants);
      std::fflush(stdout);
      next_report += std::chrono::seconds(3);
    }
  }
}

}  // namespace

/// The other sanitizer's hook: it does not run the callback above.
extern "C" void __ubsan_on_report();
void __ubsan_on_report() { print_current(); }

}  // namespace atl
