#include "kernel/fdt_interrupt.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/host/kernel/device_tree_fixture.hpp"

namespace atl::host {
namespace {

constexpr u32 kGic = 1;
constexpr u32 kGpio = 2;
constexpr FdtGic gic{.phandle = kGic, .interrupt_cells = 3};

/// A tree with a GPIO controller, whose interrupts have two cells.
Tree tree_with_gpio() {
  return tree_with([](void* fdt) {
    fdt_begin_node(fdt, "gpio");
    fdt_property_u32(fdt, "phandle", kGpio);
    fdt_property_u32(fdt, "#interrupt-cells", 2);
    fdt_end_node(fdt);
  });
}

class FdtInterruptTest : public ::testing::Test {
 protected:
  std::expected<std::optional<u32>, const char*> intid(std::vector<u32> cells, usize index, bool extended,
                                                       u32 parent = kGic) {
    std::vector<u8> bytes;
    for (u32 cell : cells) {
      for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<u8>(cell >> shift));
    }
    const FdtProperty property = cells.empty() ? FdtProperty() : FdtProperty(bytes.data(), bytes.size());
    return gic.intid(tree_.data(), {property, index, parent, extended});
  }

  Tree tree_ = tree_with_gpio();
};

TEST_F(FdtInterruptTest, PpisCountFromSixteenAndSpisFromThirtyTwo) {
  EXPECT_EQ(intid({1, 11, 4}, 0, false).value(), 27u);
  EXPECT_EQ(intid({1, 14, 4, 0, 8, 4}, 1, false).value(), 40u);
  EXPECT_EQ(intid({}, 0, false).value(), std::nullopt);
}

TEST_F(FdtInterruptTest, ExtendedEntriesHaveTheirOwnControllersSize) {
  EXPECT_EQ(intid({kGic, 1, 13, 4, kGic, 1, 11, 4}, 1, true).value(), 27u);
  EXPECT_EQ(intid({kGpio, 7, 1, kGic, 0, 1, 4}, 1, true).value(), 33u);
}

TEST_F(FdtInterruptTest, OthersInterruptsAndBadOnesAreRefusedWithAReason) {
  EXPECT_STREQ(intid({1, 11, 4}, 0, false, kGpio).error(), "does not go to the GIC");
  EXPECT_STREQ(intid({kGpio, 7, 1}, 0, true).error(), "does not go to the GIC");
  EXPECT_STREQ(intid({99, 7, 1, kGic, 1, 11, 4}, 1, true).error(), "does not go to the GIC");
  EXPECT_STREQ(intid({kGic, 1, 11, 4}, 1, true).error(), "does not go to the GIC");
  EXPECT_STREQ(intid({kGpio, 7, 1, kGic, 1}, 1, true).error(), "is missing or out of range");
  EXPECT_STREQ(intid({1, 16, 4}, 0, false).error(), "is missing or out of range");
  EXPECT_STREQ(intid({0, 988, 4}, 0, false).error(), "is missing or out of range");
  EXPECT_STREQ(intid({2, 1, 4}, 0, false).error(), "is missing or out of range");
}

TEST_F(FdtInterruptTest, EntriesArePassedOverUpToABound) {
  std::vector<u32> cells;
  for (int i = 0; i < 34; ++i) cells.insert(cells.end(), {kGic, 1, 11, 4});
  EXPECT_EQ(intid(cells, 32, true).value(), 27u);
  EXPECT_FALSE(intid(cells, 33, true)) << "entry 33 was found";
}

}  // namespace
}  // namespace atl::host
