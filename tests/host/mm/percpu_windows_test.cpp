#include "mm/percpu_windows.hpp"

#include <gtest/gtest.h>

#include <set>

#include "mm/layout.hpp"
#include "tests/host/mm/fake_tables.hpp"
#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

using arch::Granule;

template <class L>
class PerCpuWindowsTest : public testing::Test {
 public:
  using G = typename L::Geometry;
  using Roots = KernelRoots<L, fake::Memory>;
  using OwnTables = PageTables<G, fake::Memory>;
  static constexpr unsigned kCpus = 5;
  static constexpr u64 kStaticBytes = 3 * G::kPageSize;

  PerCpuWindowsTest() { fake::g_current = &physical; }
  ~PerCpuWindowsTest() override { fake::g_current = nullptr; }

  void SetUp() override {
    ASSERT_TRUE(roots.init(kCpus));
    for (unsigned cpu = 0; cpu < kCpus; ++cpu) {
      ASSERT_TRUE(roots.create_root(cpu));
      ASSERT_TRUE(windows.create_unit(cpu, frames(cpu), kStaticBytes));
    }
  }
  static PhysAddr frames(unsigned cpu) { return PhysAddr(8_GiB + cpu * 64 * G::kPageSize); }
  /// What the CPU's MMU would walk.
  OwnTables as_walked_by(unsigned cpu) { return OwnTables(fake::Memory(physical), roots.root_of(cpu)); }

  fake::PhysicalTables physical{G::kPageSize};
  Roots roots{fake::Memory(physical)};
  PerCpuWindows<Roots> windows{roots};
};

using Layouts =
    testing::Types<Layout<arch::Geometry<Granule::k4K, 48>>, Layout<arch::Geometry<Granule::k4K, 39>>,
                   Layout<arch::Geometry<Granule::k16K, 47>>, Layout<arch::Geometry<Granule::k16K, 48>>,
                   Layout<arch::Geometry<Granule::k16K, 36>>, Layout<arch::Geometry<Granule::k64K, 48>>,
                   Layout<arch::Geometry<Granule::k64K, 42>>>;
TYPED_TEST_SUITE(PerCpuWindowsTest, Layouts);

TYPED_TEST(PerCpuWindowsTest, LocalWindowIsTheCpusOwnUnit) {
  using L = TypeParam;
  std::set<PhysAddr> seen;
  for (unsigned cpu = 0; cpu < TestFixture::kCpus; ++cpu) {
    const auto local = this->as_walked_by(cpu).query(L::kLocal.start);
    ASSERT_TRUE(local) << "CPU " << cpu;
    EXPECT_EQ(local->pa, TestFixture::frames(cpu)) << "CPU " << cpu << " sees another CPU's unit";
    EXPECT_TRUE(seen.insert(local->pa).second);
  }
}

TYPED_TEST(PerCpuWindowsTest, WholeStaticUnitIsMappedByPagesInBothWindows) {
  using L = TypeParam;
  using G = typename L::Geometry;
  for (unsigned cpu = 0; cpu < TestFixture::kCpus; ++cpu) {
    for (u64 offset = 0; offset < TestFixture::kStaticBytes; offset += G::kPageSize) {
      const auto local = this->as_walked_by(cpu).query(L::kLocal.start + offset);
      const auto global = this->as_walked_by(0).query(L::unit(cpu) + offset);
      ASSERT_TRUE(local && global) << "page " << offset / G::kPageSize << " of CPU " << cpu
                                   << " is not mapped";
      EXPECT_EQ(global->pa, TestFixture::frames(cpu) + offset);
      EXPECT_EQ(local->bytes, G::kPageSize);
      EXPECT_FALSE(local->contiguous);
      EXPECT_EQ(local->attributes, arch::kKernelData);
    }
    EXPECT_FALSE(this->as_walked_by(cpu).query(L::kLocal.start + TestFixture::kStaticBytes));
  }
}

TYPED_TEST(PerCpuWindowsTest, UnitTablesAreTheSameInBothWindows) {
  using L = TypeParam;
  for (unsigned cpu = 0; cpu < TestFixture::kCpus; ++cpu) {
    const auto own = this->as_walked_by(cpu);
    EXPECT_EQ(own.table_at(L::kLocal.start, L::kUnitTableLevel),
              own.table_at(L::unit(cpu), L::kUnitTableLevel));
    EXPECT_EQ(own.table_at(L::kLocal.start, arch::kPageLevel), own.table_at(L::unit(cpu), arch::kPageLevel));
    EXPECT_FALSE(this->roots.compare(cpu));
  }
}

TYPED_TEST(PerCpuWindowsTest, PopulateAnywhereInTheUnitWhileCpusRun) {
  using L = TypeParam;
  using G = typename L::Geometry;
  // Across the boundary of two last-level tables where the unit has several, and at the unit's end.
  const PhysAddr chunk(32_GiB);
  const u64 middle =
      L::kUnitBytes > L::kLastTableSpan ? L::kLastTableSpan - 2 * G::kPageSize : 8 * G::kPageSize;
  for (u64 offset : {middle, L::kUnitBytes - 4 * G::kPageSize}) {
    ASSERT_TRUE(this->windows.populate(2, offset, chunk, 4));
    for (u64 page = 0; page < 4; ++page) {
      const u64 at = offset + page * G::kPageSize;
      EXPECT_EQ(this->as_walked_by(2).query(L::kLocal.start + at)->pa, chunk + page * G::kPageSize);
      EXPECT_EQ(this->as_walked_by(4).query(L::unit(2) + at)->pa, chunk + page * G::kPageSize);
      EXPECT_FALSE(this->as_walked_by(2).query(L::kLocal.start + at)->contiguous);
      EXPECT_FALSE(this->as_walked_by(3).query(L::kLocal.start + at));
    }
  }
}

TYPED_TEST(PerCpuWindowsTest, PopulateRefusesWhatIsThereAndWhatIsOutside) {
  using L = TypeParam;
  using G = typename L::Geometry;
  const u64 page = G::kPageSize;
  const PhysAddr pa(32_GiB);
  EXPECT_EQ(this->windows.populate(1, 2 * page, pa, 2).error(), Error::already_exists);
  EXPECT_FALSE(this->as_walked_by(1).query(L::kLocal.start + 3 * page));
  EXPECT_EQ(this->windows.populate(1, L::kUnitBytes - page, pa, 2).error(), Error::out_of_range);
  EXPECT_EQ(this->windows.populate(1, L::kUnitBytes + page, pa, 1).error(), Error::out_of_range);
  EXPECT_EQ(this->windows.populate(1, page / 2, pa, 1).error(), Error::invalid_argument);
}

TYPED_TEST(PerCpuWindowsTest, OutOfMemoryAtAnyTableMapsInNeitherWindow) {
  using L = TypeParam;
  using G = typename L::Geometry;
  const u64 offset = L::kUnitBytes - G::kPageSize;
  usize k = 0;
  for (;; ++k) {
    this->physical.allocations_left = k;
    const Result<> result = this->windows.populate(3, offset, PhysAddr(32_GiB), 1);
    if (result) break;
    EXPECT_EQ(result.error(), Error::no_memory);
    EXPECT_FALSE(this->as_walked_by(3).query(L::kLocal.start + offset));
    EXPECT_FALSE(this->as_walked_by(3).query(L::unit(3) + offset));
    ASSERT_LT(k, 8U);
  }
  EXPECT_TRUE(this->as_walked_by(3).query(L::kLocal.start + offset));
}

TEST(PerCpuWindows4K, PrivateTablesTakeAtMost24KiB) {
  using L = Layout<arch::Geometry<Granule::k4K, 48>>;
  fake::PhysicalTables physical(4_KiB);
  fake::g_current = &physical;
  KernelRoots<L, fake::Memory> roots{fake::Memory(physical)};
  PerCpuWindows windows(roots);
  ASSERT_TRUE(roots.init(160));
  usize tables = 0;
  for (unsigned cpu = 0; cpu < 160; ++cpu) {
    const usize before = physical.count();
    ASSERT_TRUE(roots.create_root(cpu));
    ASSERT_TRUE(windows.create_unit(cpu, PhysAddr(8_GiB + cpu * 1_MiB), 256_KiB));
    EXPECT_LE(roots.private_table_bytes(cpu), 24_KiB);
    tables = physical.count() - before;
  }
  EXPECT_EQ(tables, 4U) << "a block, the window's own table, and a unit's two";
  fake::g_current = nullptr;
}

}  // namespace
}  // namespace atl::mm
