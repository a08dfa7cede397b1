#include "mm/regions.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "mm/layout.hpp"

namespace atl::mm {
namespace {

template <class L>
class Regions : public testing::Test {};
using Layouts = testing::Types<
    Layout<arch::Geometry<arch::Granule::k4K, 48>>, Layout<arch::Geometry<arch::Granule::k4K, 39>>,
    Layout<arch::Geometry<arch::Granule::k16K, 47>>, Layout<arch::Geometry<arch::Granule::k16K, 48>>,
    Layout<arch::Geometry<arch::Granule::k64K, 48>>, Layout<arch::Geometry<arch::Granule::k64K, 42>>>;
TYPED_TEST_SUITE(Regions, Layouts);

TYPED_TEST(Regions, AscendingDisjointAndFoundByAddress) {
  VirtAddr last{};
  for (const RegionRange& r : kRegions<TypeParam>) {
    EXPECT_GE(r.range.start, last) << to_string(r.region);
    EXPECT_EQ(region_of<TypeParam>(r.range.start), r.region);
    EXPECT_EQ(region_of<TypeParam>(r.range.start + (r.range.size - 1)), r.region);
    last = r.range.start + (r.range.size - 1);
  }
  EXPECT_EQ(last, VirtAddr(~u64{0}));
  EXPECT_EQ(region_of<TypeParam>(VirtAddr(0x4000'0000)), Region::other);
}

TEST(RegionNames, EveryRegionHasItsOwn) {
  for (usize i = 0; i < kRegionCount; ++i) {
    for (usize j = 0; j < i; ++j) {
      EXPECT_NE(std::string_view(to_string(static_cast<Region>(i))), to_string(static_cast<Region>(j)));
    }
  }
}

}  // namespace
}  // namespace atl::mm
