#include "tests/fuzz/mutator.hpp"

#include <gtest/gtest.h>
#include <libfdt.h>

#include <fstream>
#include <iterator>
#include <map>

#include "tests/fuzz/flat_tree.hpp"

namespace atl::fuzz {
namespace {

std::vector<u8> board(const std::string& name) {
  std::ifstream file("build/dtb/" + name + ".dtb", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FlatTree, WhatIsReadIsWrittenAgain) {
  for (const char* name : {"soc-bus", "reservations", "qemu-smp160"}) {
    const std::vector<u8> bytes = board(name);
    const auto tree = FlatTree::read(bytes);
    ASSERT_TRUE(tree) << name;
    const std::vector<u8> written = tree->write();
    EXPECT_EQ(fdt_check_full(written.data(), written.size()), 0) << name;
    EXPECT_EQ(fdt_num_mem_rsv(written.data()), fdt_num_mem_rsv(bytes.data())) << name;
    EXPECT_EQ(FlatTree::read(written)->write(), written) << name;
    int length = 0;
    const void* compatible = fdt_getprop(written.data(), 0, "compatible", &length);
    ASSERT_NE(compatible, nullptr);
    int expected = 0;
    fdt_getprop(bytes.data(), 0, "compatible", &expected);
    EXPECT_EQ(length, expected) << name;
  }
}

TEST(FlatTree, TruncatedAnywhereIsNotRead) {
  const std::vector<u8> whole = FlatTree::read(board("soc-bus"))->write();
  for (usize size = 0; size < whole.size(); ++size) {
    // A buffer of that size, for the sanitizer to watch.
    const std::vector<u8> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(FlatTree::read(part)) << size;
  }
}

TEST(Mutator, TheSameSeedGivesTheSameMutant) {
  const std::vector<u8> base = board("soc-bus");
  usize different = 0;
  for (u64 seed = 0; seed < 200; ++seed) {
    const Mutant one = mutate(base, seed, kSevere);
    const Mutant two = mutate(base, seed, kSevere);
    EXPECT_EQ(one.bytes, two.bytes) << seed;
    EXPECT_EQ(one.description, two.description);
    different += one.bytes != mutate(base, seed + 1, kSevere).bytes;
  }
  EXPECT_GE(different, 195u);
}

TEST(Mutator, EveryKindOccurs) {
  const std::vector<u8> base = board("reservations");
  std::map<std::string, unsigned> seen;
  for (u64 seed = 0; seed < 2000; ++seed) {
    std::string rest = mutate(base, seed, kSevere).description;
    while (!rest.empty()) {
      ++seen[rest.substr(0, rest.find_first_of(" ,:"))];
      const usize next = rest.find("; ");
      rest = next == std::string::npos ? "" : rest.substr(next + 2);
    }
  }
  for (const char* kind :
       {"flip_bits",    "set_number",      "nudge_number",    "borrow_value",    "misplace",
        "resize_value", "drop_property",   "repeat_property", "rename_property", "drop_node",
        "repeat_node",  "rename_node",     "move_node",       "cell_sizes",      "set_word",
        "add_memory",   "add_reservation", "boot_arguments",  "header_field",    "truncate",
        "flip_bytes"}) {
    EXPECT_GE(seen[kind], 20u) << kind;
  }
}

TEST(Mutator, LightMutantsAreSoundTrees) {
  const std::vector<u8> base = board("qemu-smp1");
  unsigned sound = 0;
  for (u64 seed = 0; seed < 400; ++seed) {
    const Mutant mutant = mutate(base, seed, kLight);
    EXPECT_FALSE(mutant.description.empty());
    sound += fdt_check_header(mutant.bytes.data()) == 0 && FlatTree::read(mutant.bytes).has_value();
  }
  EXPECT_GE(sound, 360u) << "the kinds without structure are to be few";
}

TEST(Mutator, BytesThatAreNoTreeAreChangedToo) {
  const std::vector<u8> text = {'a', 'b', 'c'};
  const Mutant mutant = mutate(text, 1, kSevere);
  EXPECT_NE(mutant.description, "");
  EXPECT_NE(mutate({}, 1, kSevere).description, "");
}

}  // namespace
}  // namespace atl::fuzz
