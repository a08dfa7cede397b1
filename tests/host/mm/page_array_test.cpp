#include "mm/page_array.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace atl::mm {
namespace {

using arch::Geometry;
using arch::Granule;

template <class G>
class PageArrayOf : public ::testing::Test {};
using Geometries = ::testing::Types<Geometry<Granule::k4K, 48>, Geometry<Granule::k16K, 47>,
                                    Geometry<Granule::k64K, 48>, Geometry<Granule::k16K, 36>>;
TYPED_TEST_SUITE(PageArrayOf, Geometries);

TYPED_TEST(PageArrayOf, ConvertsBetweenPageNumberAndAddress) {
  constexpr u64 kPage = TypeParam::kPageSize;
  constexpr PhysAddr kBase(1_GiB);
  std::vector<Page> pages(100);
  const PageArray<TypeParam> array(pages.data(), kBase, pages.size());
  EXPECT_EQ(array.first_frame(), 1_GiB / kPage);
  for (u64 i = 0; i < pages.size(); ++i) {
    const PhysAddr pa = kBase + i * kPage;
    EXPECT_EQ(&array.page_of(pa), &pages[i]);
    EXPECT_EQ(&array.page_of(pa + kPage - 1), &pages[i]);
    EXPECT_EQ(array.address_of(pages[i]), pa);
    EXPECT_EQ(&array.page(array.frame(pages[i])), &pages[i]);
  }
  EXPECT_FALSE(array.contains(kBase - 1));
  EXPECT_TRUE(array.contains(kBase));
  EXPECT_TRUE(array.contains(kBase + 100 * kPage - 1));
  EXPECT_FALSE(array.contains(kBase + 100 * kPage));
  EXPECT_FALSE(array.contains(pages.data() + 100));
}

TYPED_TEST(PageArrayOf, BacksWholeLargestBlocksOnceEach) {
  using L = Layout<TypeParam>;
  constexpr u64 kBlock = kMaxBlockBytes<TypeParam>;
  constexpr u64 kPage = TypeParam::kPageSize;
  MemoryMap map;
  // Two banks in neighbouring blocks, and one further away; all off the block boundaries.
  ASSERT_TRUE(map.add_ram({PhysAddr(2_GiB + 3 * kPage), kPage}));
  ASSERT_TRUE(map.add_ram({PhysAddr(2_GiB + kBlock + 5 * kPage), 2 * kPage}));
  ASSERT_TRUE(map.add_ram({PhysAddr(6_GiB - kPage), kPage}));
  ASSERT_TRUE(map.finalize(MapRules::of<L>(PhysAddr(u64{1} << 48))));

  std::vector<VirtRange> backed;
  for_each_page_array_range<L>(map, [&](const VirtRange& r) { backed.push_back(r); });
  const auto entry = [&](u64 pa) { return L::kVmemmap.start + (pa - 2_GiB) / kPage * sizeof(Page); };
  ASSERT_EQ(backed.size(), 2u);
  EXPECT_EQ(backed[0].start, entry(2_GiB));
  EXPECT_EQ(backed[0].end(), entry(2_GiB + 2 * kBlock));
  EXPECT_EQ(backed[1].start, entry(6_GiB - kBlock));
  EXPECT_EQ(backed[1].end(), entry(6_GiB));
  for (const VirtRange& r : backed) {
    EXPECT_TRUE(L::kVmemmap.contains(r));
    EXPECT_TRUE(r.start.is_aligned(kPage) && r.end().is_aligned(kPage));
  }
}

TEST(PageArray, LargestBlockIsWhatALastLevelTableSpans) {
  EXPECT_EQ((kMaxBlockBytes<Geometry<Granule::k4K, 48>>), 2_MiB);
  EXPECT_EQ((kMaxBlockBytes<Geometry<Granule::k16K, 47>>), 32_MiB);
  EXPECT_EQ((kMaxBlockBytes<Geometry<Granule::k64K, 48>>), 512_MiB);
}

}  // namespace
}  // namespace atl::mm
