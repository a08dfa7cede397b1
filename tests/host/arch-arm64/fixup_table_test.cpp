#include "arch-arm64/fixup_table.hpp"

#include <gtest/gtest.h>

#include <array>

namespace atl::arch {
namespace {

TEST(FixupTable, FindsTheInstructionAndNoNeighbour) {
  constexpr std::array<FixupEntry, 3> kTable{{{0x3000, 0x3004}, {0x1000, 0x1040}, {0x2000, 0x8000}}};
  EXPECT_EQ(find_fixup(kTable, 0x1000), u64{0x1040});
  EXPECT_EQ(find_fixup(kTable, 0x2000), u64{0x8000});
  EXPECT_EQ(find_fixup(kTable, 0x3000), u64{0x3004});
  EXPECT_EQ(find_fixup(kTable, 0x1004), std::nullopt);
  EXPECT_EQ(find_fixup(kTable, 0x0ffc), std::nullopt);
  EXPECT_EQ(find_fixup(kTable, 0), std::nullopt);
}

TEST(FixupTable, EmptyTable) { EXPECT_EQ(find_fixup({}, 0), std::nullopt); }

}  // namespace
}  // namespace atl::arch
