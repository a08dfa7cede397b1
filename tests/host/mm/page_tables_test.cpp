#include "mm/page_tables.hpp"

#include <gtest/gtest.h>

#include "tests/host/mm/fake_tables.hpp"
#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

using arch::Descriptor;
using arch::Granule;
using arch::kPageLevel;

template <class G>
class PageTablesTest : public testing::Test {
 public:
  using Tables = PageTables<G, fake::Memory>;
  static constexpr u64 kPage = G::kPageSize;
  static constexpr u64 kBlock = G::entry_bytes(2);
  static constexpr u64 kRun = kPage * G::contiguous_entries(kPageLevel);
  /// Aligned for any leaf and any run.
  static constexpr VirtAddr kVa = G::kKernelStart;
  static constexpr PhysAddr kPa{64_GiB};

  fake::PhysicalTables physical{G::kPageSize};
  Tables tables = *Tables::create(fake::Memory(physical));
  fake::Sink sink;

  std::vector<Leaf> leaves() { return fake::leaves_of(tables, {G::kKernelStart, G::kKernelBytes}); }
  /// A page's own tables: everything below the root.
  static constexpr usize kDepth = G::kLevels - 1;
};

using Geometries = testing::Types<arch::Geometry<Granule::k4K, 48>, arch::Geometry<Granule::k4K, 39>,
                                  arch::Geometry<Granule::k16K, 47>, arch::Geometry<Granule::k64K, 48>>;
TYPED_TEST_SUITE(PageTablesTest, Geometries);

#define FIXTURE_NAMES                                               \
  using G = TypeParam;                                              \
  constexpr u64 kPage = TestFixture::kPage;                         \
  [[maybe_unused]] constexpr u64 kBlock = TestFixture::kBlock;      \
  [[maybe_unused]] constexpr u64 kRun = TestFixture::kRun;          \
  [[maybe_unused]] constexpr VirtAddr kVa = TestFixture::kVa;       \
  [[maybe_unused]] constexpr PhysAddr kPa = TestFixture::kPa;       \
  [[maybe_unused]] auto& tables = this->tables;                     \
  [[maybe_unused]] auto& sink = this->sink;                         \
  [[maybe_unused]] auto& physical = this->physical;                 \
  static_assert(kPage == G::kPageSize)

TYPED_TEST(PageTablesTest, OnePageIsFoundAndNothingElse) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa + kPage, kPa, kPage, arch::kKernelText));
  const auto leaf = tables.query(kVa + kPage + 5);
  ASSERT_TRUE(leaf);
  EXPECT_EQ(leaf->va, kVa + kPage);
  EXPECT_EQ(leaf->translate(kVa + kPage + 5), kPa + 5);
  EXPECT_EQ(leaf->bytes, kPage);
  EXPECT_EQ(leaf->level, kPageLevel);
  EXPECT_EQ(leaf->attributes, arch::kKernelText);
  EXPECT_FALSE(leaf->contiguous);
  EXPECT_FALSE(tables.query(kVa));
  EXPECT_FALSE(tables.query(kVa + 2 * kPage));
  EXPECT_EQ(physical.count(), 1 + TestFixture::kDepth);
}

TYPED_TEST(PageTablesTest, TheLastPageOfTheAddressSpaceCanBeMapped) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(VirtAddr(0) - 2 * kPage, kPa, 2 * kPage, arch::kKernelData));
  EXPECT_EQ(tables.query(VirtAddr(~u64{0}))->translate(VirtAddr(~u64{0})), kPa + (2 * kPage - 1));
  EXPECT_EQ(this->leaves().size(), 2U);
  ASSERT_TRUE(tables.unmap({VirtAddr(0) - 2 * kPage, 2 * kPage}, sink));
  EXPECT_TRUE(this->leaves().empty());
}

TYPED_TEST(PageTablesTest, BlocksWhereTheyFitPagesAround) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa + kBlock - kPage, kPa + kBlock - kPage, kBlock + 2 * kPage, arch::kKernelData));
  const auto leaves = this->leaves();
  ASSERT_EQ(leaves.size(), 3U);
  EXPECT_EQ(leaves[0].bytes, kPage);
  EXPECT_EQ(leaves[1].bytes, kBlock);
  EXPECT_EQ(leaves[1].level, 2);
  EXPECT_FALSE(leaves[1].contiguous);
  EXPECT_EQ(leaves[2].bytes, kPage);
  EXPECT_EQ(leaves[2].pa, kPa + 2 * kBlock);
}

TYPED_TEST(PageTablesTest, NoBlockWithoutCommonAlignmentOrAboveTheLimit) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa, kPa + kPage, kBlock, arch::kKernelData));
  for (const Leaf& leaf : this->leaves()) ASSERT_EQ(leaf.bytes, kPage);
  ASSERT_TRUE(tables.map(kVa + kBlock, kPa, kBlock, arch::kKernelData, {.largest_leaf = kBlock - 1}));
  EXPECT_EQ(tables.query(kVa + kBlock)->bytes, kPage);
  EXPECT_TRUE(tables.query(kVa + kBlock)->contiguous) << "runs are below this limit";
  ASSERT_TRUE(tables.map(kVa + 2 * kBlock, kPa, kBlock, arch::kKernelData, {.largest_leaf = kBlock}));
  EXPECT_EQ(tables.query(kVa + 2 * kBlock)->bytes, kBlock);
}

TYPED_TEST(PageTablesTest, ContiguousRunsExactlyWhereTheyFit) {
  FIXTURE_NAMES;
  // A page, a whole run, a page.
  ASSERT_TRUE(tables.map(kVa + kRun - kPage, kPa + kRun - kPage, kRun + 2 * kPage, arch::kKernelData));
  const auto leaves = this->leaves();
  ASSERT_EQ(leaves.size(), kRun / kPage + 2);
  for (usize i = 0; i < leaves.size(); ++i) {
    EXPECT_EQ(leaves[i].contiguous, i != 0 && i + 1 != leaves.size()) << i;
    EXPECT_EQ(leaves[i].pa, kPa + kRun + i * kPage - kPage);
  }
}

TYPED_TEST(PageTablesTest, NoRunWhereForbiddenUnalignedOrAboveTheLimit) {
  FIXTURE_NAMES;
  const auto any_contiguous = [&](VirtAddr va) {
    for (const Leaf& leaf : fake::leaves_of(tables, {va, kRun})) {
      if (leaf.contiguous) return true;
    }
    return false;
  };
  ASSERT_TRUE(tables.map(kVa, kPa, kRun, arch::kKernelData, {.contiguous = false}));
  EXPECT_FALSE(any_contiguous(kVa));
  ASSERT_TRUE(tables.map(kVa + kRun, kPa + kPage, kRun, arch::kKernelData));
  EXPECT_FALSE(any_contiguous(kVa + kRun));
  ASSERT_TRUE(tables.map(kVa + 2 * kRun, kPa, kRun, arch::kKernelData, {.largest_leaf = kRun - kPage}));
  EXPECT_FALSE(any_contiguous(kVa + 2 * kRun));
  ASSERT_TRUE(tables.map(kVa + 3 * kRun, kPa, kRun, arch::kKernelData, {.largest_leaf = kRun}));
  EXPECT_TRUE(any_contiguous(kVa + 3 * kRun));
}

TYPED_TEST(PageTablesTest, BlocksFormRunsToo) {
  FIXTURE_NAMES;
  const u64 run = kBlock * G::contiguous_entries(2);
  ASSERT_TRUE(tables.map(kVa + run, kPa, run, arch::kKernelData, {.largest_leaf = run}));
  const auto leaves = this->leaves();
  ASSERT_EQ(leaves.size(), G::contiguous_entries(2));
  for (const Leaf& leaf : leaves) EXPECT_TRUE(leaf.contiguous && leaf.bytes == kBlock);
  EXPECT_EQ(tables.unmap({kVa + run, kBlock}, sink).error(), Error::denied);
}

TEST(PageTables4K, OneGibibyteBlocks) {
  using G = arch::Geometry<Granule::k4K, 48>;
  fake::PhysicalTables physical(4_KiB);
  auto tables = *PageTables<G, fake::Memory>::create(fake::Memory(physical));
  ASSERT_TRUE(tables.map(G::kKernelStart + 1_GiB, PhysAddr(1_GiB), 2_GiB, arch::kKernelData));
  EXPECT_EQ(tables.query(G::kKernelStart + 2_GiB)->bytes, 1_GiB);
  EXPECT_EQ(physical.count(), 2U) << "the root and one table of 1 GiB blocks";
}

TYPED_TEST(PageTablesTest, AnEmptyTableStaysInTheWayOfABlockUntilRetired) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa, kPa, kPage, arch::kKernelData));
  ASSERT_TRUE(tables.unmap({kVa, kPage}, sink));
  ASSERT_TRUE(tables.map(kVa, kPa, kBlock, arch::kKernelData));
  EXPECT_EQ(tables.query(kVa)->bytes, kPage);
  RetiredTables retired;
  ASSERT_TRUE(tables.unmap({kVa, kBlock}, sink, retired));
  EXPECT_EQ(retired.count(), TestFixture::kDepth);
  tables.free_tables(retired);
  EXPECT_EQ(physical.count(), 1U);
  ASSERT_TRUE(tables.map(kVa, kPa, kBlock, arch::kKernelData));
  EXPECT_EQ(tables.query(kVa)->bytes, kBlock);
}

TYPED_TEST(PageTablesTest, MapRefusesWhereAnythingIsValidAndChangesNothing) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa + 5 * kPage, kPa, kPage, arch::kKernelData));
  ASSERT_TRUE(tables.map(kVa + kBlock, kPa, kBlock, arch::kKernelData));
  const auto before = physical.snapshot();
  EXPECT_EQ(tables.map(kVa, kPa, 6 * kPage, arch::kKernelData).error(), Error::already_exists);
  EXPECT_EQ(tables.map(kVa + 5 * kPage, kPa, kPage, arch::kKernelData).error(), Error::already_exists);
  EXPECT_EQ(tables.map(kVa + kBlock + kPage, kPa, kPage, arch::kKernelData).error(), Error::already_exists);
  EXPECT_EQ(tables.map(kVa + kBlock - kPage, kPa, 2 * kPage, arch::kKernelData).error(),
            Error::already_exists);
  EXPECT_EQ(tables.ensure_tables({kVa + kBlock, 1}, kPageLevel).error(), Error::already_exists);
  EXPECT_EQ(physical.snapshot(), before);
}

TYPED_TEST(PageTablesTest, BadRangesAreNamedAndChangeNothing) {
  FIXTURE_NAMES;
  const auto before = physical.snapshot();
  const arch::PageAttributes data = arch::kKernelData;
  EXPECT_EQ(tables.map(kVa + 1, kPa, kPage, data).error(), Error::invalid_argument);
  EXPECT_EQ(tables.map(kVa, kPa + 1, kPage, data).error(), Error::invalid_argument);
  EXPECT_EQ(tables.map(kVa, kPa, kPage / 2, data).error(), Error::invalid_argument);
  EXPECT_EQ(tables.map(kVa, kPa, 0, data).error(), Error::invalid_argument);
  EXPECT_EQ(tables.map(kVa - kPage, kPa, kPage, data).error(), Error::out_of_range);
  EXPECT_EQ(tables.map(kVa - kPage, kPa, 2 * kPage, data).error(), Error::out_of_range);
  EXPECT_EQ(tables.map(VirtAddr(0) - kPage, kPa, 2 * kPage, data).error(), Error::out_of_range);
  EXPECT_EQ(tables.map(kVa, PhysAddr((u64{1} << 48) - kPage), 2 * kPage, data).error(), Error::out_of_range);
  EXPECT_EQ(tables.map(kVa, PhysAddr(u64{1} << 48), kPage, data).error(), Error::out_of_range);
  EXPECT_EQ(tables.unmap({kVa, 1}, sink).error(), Error::invalid_argument);
  EXPECT_EQ(tables.protect({kVa - kPage, kPage}, data, sink).error(), Error::out_of_range);
  EXPECT_EQ(tables.ensure_tables({kVa, 0}, kPageLevel).error(), Error::out_of_range);
  EXPECT_EQ(physical.snapshot(), before);
}

TYPED_TEST(PageTablesTest, OutOfMemoryAtAnyTableChangesNothing) {
  FIXTURE_NAMES;
  // Pages on both sides of a block boundary: two last-level tables and what is above them.
  const VirtAddr va = kVa + kBlock - kPage;
  const usize need = TestFixture::kDepth + 1;
  const auto before = physical.snapshot();
  for (usize k = 0; k < need; ++k) {
    physical.allocations_left = k;
    EXPECT_EQ(tables.map(va, kPa, 2 * kPage, arch::kKernelData).error(), Error::no_memory) << k;
    physical.allocations_left = k;
    EXPECT_EQ(tables.ensure_tables({va, 2 * kPage}, kPageLevel).error(), Error::no_memory) << k;
    EXPECT_EQ(physical.snapshot(), before) << k;
  }
  physical.allocations_left = need;
  EXPECT_TRUE(tables.map(va, kPa, 2 * kPage, arch::kKernelData));
  EXPECT_EQ(physical.allocations_left, 0U);
}

TYPED_TEST(PageTablesTest, UnmapReportsEachTableAndItsStride) {
  FIXTURE_NAMES;
  ASSERT_TRUE(
      tables.map(kVa + kBlock - 2 * kPage, kPa + kBlock - 2 * kPage, kBlock + 3 * kPage, arch::kKernelData));
  RetiredTables retired;
  ASSERT_TRUE(tables.unmap({kVa + kBlock - 2 * kPage, kBlock + 3 * kPage}, sink, retired));
  const std::vector<fake::Sink::Cleared> expected{{{kVa + kBlock - 2 * kPage, 2 * kPage}, kPage},
                                                  {{kVa + kBlock, kBlock}, kBlock},
                                                  {{kVa + 2 * kBlock, kPage}, kPage}};
  EXPECT_EQ(sink.ranges, expected);
  EXPECT_TRUE(this->leaves().empty());
  EXPECT_FALSE(tables.table_at(kVa, kPageLevel));
  EXPECT_EQ(physical.count(), 1 + retired.count()) << "unlinked, but not free before the flush";
  tables.free_tables(retired);
  EXPECT_EQ(physical.count(), 1U);
}

TYPED_TEST(PageTablesTest, UnmapRetiresOnlyEmptiedTables) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa, kPa, kPage, arch::kKernelData));
  ASSERT_TRUE(tables.map(kVa + kBlock, kPa, kPage, arch::kKernelData));
  RetiredTables retired;
  ASSERT_TRUE(tables.unmap({kVa, kPage}, sink, retired));
  EXPECT_EQ(retired.count(), 1U);
  EXPECT_TRUE(tables.query(kVa + kBlock));
  tables.free_tables(retired);
}

TYPED_TEST(PageTablesTest, Case35_PartOfABlockOrRunIsNeverSplit) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa, kPa, kBlock, arch::kKernelData));
  ASSERT_TRUE(tables.map(kVa + kBlock, kPa + kBlock, kRun, arch::kKernelData));
  ASSERT_TRUE(tables.map(kVa + kBlock + kRun, kPa, kPage, arch::kKernelData));
  const auto before = physical.snapshot();
  for (VirtRange part : {VirtRange{kVa, kPage},
                         {kVa + kBlock - kPage, kPage},
                         {kVa + kPage, kBlock - kPage},
                         {kVa + kBlock, kPage},
                         {kVa + kBlock + kPage, kRun},
                         {kVa, kBlock + kPage}}) {
    EXPECT_EQ(tables.unmap(part, sink).error(), Error::denied) << part.size;
    EXPECT_EQ(tables.protect(part, arch::kKernelReadOnly, sink).error(), Error::denied) << part.size;
  }
  EXPECT_EQ(physical.snapshot(), before);
  EXPECT_TRUE(sink.ranges.empty());
  EXPECT_TRUE(tables.unmap({kVa, kBlock + kRun + kPage}, sink));
}

TYPED_TEST(PageTablesTest, Case35_LinkingOverALiveBlockOrTablePanics) {
  FIXTURE_NAMES;
  const PhysAddr other = *physical.allocate(kPage);
  ASSERT_TRUE(tables.map(kVa, kPa, kBlock, arch::kKernelData));
  EXPECT_PANIC((void)tables.link_table(kVa, kPageLevel, other), "break-before-make");
  EXPECT_EQ(tables.query(kVa)->bytes, kBlock);
  ASSERT_TRUE(tables.map(kVa + kBlock, kPa, kPage, arch::kKernelData));
  EXPECT_PANIC((void)tables.link_table(kVa + kBlock, kPageLevel, other), "break-before-make");
}

TYPED_TEST(PageTablesTest, HolesAreNotFoundBeforeAnythingChanges) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa, kPa, 2 * kPage, arch::kKernelData));
  const auto before = physical.snapshot();
  EXPECT_EQ(tables.unmap({kVa, 3 * kPage}, sink).error(), Error::not_found);
  EXPECT_EQ(tables.protect({kVa, 3 * kPage}, arch::kKernelReadOnly, sink).error(), Error::not_found);
  EXPECT_EQ(physical.snapshot(), before);
  EXPECT_TRUE(tables.unmap({kVa, 2 * kPage}, sink));
  EXPECT_EQ(tables.unmap({kVa, 2 * kPage}, sink).error(), Error::not_found) << "twice";
}

TYPED_TEST(PageTablesTest, ProtectChangesPermissionsOnly) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa, kPa, kBlock + kRun + kPage, arch::kKernelData));
  ASSERT_TRUE(tables.protect({kVa, kBlock + kRun + kPage}, arch::kKernelText, sink));
  for (const Leaf& leaf : this->leaves()) {
    EXPECT_EQ(leaf.attributes, arch::kKernelText);
    EXPECT_EQ(leaf.pa - kPa, leaf.va - kVa);
  }
  EXPECT_TRUE(tables.query(kVa + kBlock)->contiguous);
  EXPECT_EQ(sink.bytes(), kBlock + kRun + kPage);
  EXPECT_EQ(tables.protect({kVa, kBlock}, arch::kKernelDevice, sink).error(), Error::invalid_argument);
  EXPECT_EQ(tables.protect({kVa, kBlock}, {.global = false}, sink).error(), Error::invalid_argument);
}

TYPED_TEST(PageTablesTest, LinkedTableIsSharedAndMayBeLinkedAgain) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa + kPage, kPa, kPage, arch::kKernelData));
  const PhysAddr shared = *tables.table_at(kVa, kPageLevel);
  ASSERT_TRUE(tables.link_table(kVa + 2 * kBlock, kPageLevel, shared));
  ASSERT_TRUE(tables.link_table(kVa + 2 * kBlock, kPageLevel, shared));
  EXPECT_EQ(tables.query(kVa + 2 * kBlock + kPage)->pa, kPa);
  ASSERT_TRUE(tables.map(kVa + 3 * kPage, kPa + kBlock, kPage, arch::kKernelData));
  EXPECT_EQ(tables.query(kVa + 2 * kBlock + 3 * kPage)->pa, kPa + kBlock);
}

TYPED_TEST(PageTablesTest, NewTablesArePublishedCompleteBeforeTheyAreLinked) {
  FIXTURE_NAMES;
  usize before_link = 0;
  bool published = false;
  physical.observer = [&](fake::PhysicalTables::Moment moment) {
    if (moment == fake::PhysicalTables::Moment::publish_descriptor) {
      published = tables.query(kVa).has_value();
    } else if (!tables.query(kVa)) {
      ++before_link;
    }
  };
  ASSERT_TRUE(tables.map(kVa, kPa, kPage, arch::kKernelData));
  EXPECT_EQ(before_link, TestFixture::kDepth) << "one per new table, none of them reachable yet";
  EXPECT_TRUE(published);
}

TYPED_TEST(PageTablesTest, VisitSeesTablesAndWholeLeaves) {
  FIXTURE_NAMES;
  ASSERT_TRUE(tables.map(kVa, kPa, kBlock + 2 * kPage, arch::kKernelData));
  fake::Leaves some;
  tables.visit({kVa + kBlock - 1, 2}, some);
  ASSERT_EQ(some.all.size(), 2U);
  EXPECT_EQ(some.all[0].va, kVa);
  EXPECT_EQ(some.all[0].bytes, kBlock);
  EXPECT_EQ(some.all[1].va, kVa + kBlock);
  EXPECT_EQ(some.tables.size(), TestFixture::kDepth);
}

TYPED_TEST(PageTablesTest, TheLowerHalfWorksAlike) {
  using G = TypeParam;
  ASSERT_TRUE(
      this->tables.map(VirtAddr(G::kPageSize), PhysAddr(G::kPageSize), G::kPageSize, arch::kKernelText));
  EXPECT_EQ(this->tables.query(VirtAddr(G::kPageSize + 1))->pa, PhysAddr(G::kPageSize));
}

}  // namespace
}  // namespace atl::mm
