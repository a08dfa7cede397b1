#include "mm/kernel_roots.hpp"

#include <gtest/gtest.h>

#include "mm/layout.hpp"
#include "tests/host/mm/fake_tables.hpp"
#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

using arch::Descriptor;
using arch::Granule;

template <class L>
class KernelRootsTest : public testing::Test {
 public:
  using Roots = KernelRoots<L, fake::Memory>;
  using G = typename L::Geometry;
  static constexpr bool kSyncsBelowRoot = L::kSyncLevel > G::kRootLevel;

  KernelRootsTest() { fake::g_current = &physical; }
  ~KernelRootsTest() override { fake::g_current = nullptr; }

  void start(unsigned cpus) {
    ASSERT_TRUE(roots.init(cpus));
    for (unsigned cpu = 0; cpu < cpus; ++cpu) ASSERT_TRUE(roots.create_root(cpu));
  }
  /// The table at the sync level on the way to `va`, from any root.
  Descriptor* sync_table(PhysAddr root, VirtAddr va) {
    Descriptor* entries = physical.at(root);
    return kSyncsBelowRoot ? physical.at(entries[G::index(va, G::kRootLevel)].address()) : entries;
  }
  Descriptor& slot(PhysAddr root, VirtAddr va) { return sync_table(root, va)[L::slot_of(va)]; }
  unsigned cpus_with(VirtAddr va, Descriptor value) {
    unsigned count = 0;
    roots.cpus().for_each([&](unsigned cpu) { count += slot(roots.root_of(cpu), va) == value ? 1 : 0; });
    return count;
  }
  Descriptor some_table() { return Descriptor::table(*physical.allocate(G::kPageSize)); }

  fake::PhysicalTables physical{G::kPageSize};
  Roots roots{fake::Memory(physical)};
};

using Layouts =
    testing::Types<Layout<arch::Geometry<Granule::k4K, 48>>, Layout<arch::Geometry<Granule::k4K, 39>>,
                   Layout<arch::Geometry<Granule::k16K, 47>>, Layout<arch::Geometry<Granule::k16K, 48>>,
                   Layout<arch::Geometry<Granule::k16K, 36>>, Layout<arch::Geometry<Granule::k64K, 48>>,
                   Layout<arch::Geometry<Granule::k64K, 42>>, Layout<arch::Geometry<Granule::k4K, 52>>>;
TYPED_TEST_SUITE(KernelRootsTest, Layouts);

TYPED_TEST(KernelRootsTest, BlocksHoldThreeAlignedRoots) {
  using G = typename TypeParam::Geometry;
  using Roots = typename TestFixture::Roots;
  this->start(160);
  for (unsigned cpu = 0; cpu < 160; ++cpu) {
    const PhysAddr root = this->roots.root_of(cpu);
    EXPECT_TRUE(root.is_aligned(G::kRootBytes)) << "TTBR1 takes a root aligned to its size";
    EXPECT_EQ(root - this->roots.zero_root_of(cpu), Roots::kRootStride);
    EXPECT_EQ(root - this->roots.trampoline_of(cpu), 2 * Roots::kRootStride);
    const Descriptor* zero = this->physical.at(this->roots.zero_root_of(cpu));
    for (u64 i = 0; i < Roots::kRootStride / sizeof(Descriptor); ++i) ASSERT_EQ(zero[i].raw(), 0U);
    EXPECT_TRUE(cpu == 0 || root != this->roots.root_of(cpu - 1));
  }
  EXPECT_GE(Roots::kRootStride, (arch::IdentityGeometryOf<G::kGranule>::kRootBytes)) << "TTBR0's zero root";
}

TYPED_TEST(KernelRootsTest, InstallReachesMasterAndEveryCpu) {
  using L = TypeParam;
  for (unsigned cpus : {5U, 160U}) {
    fake::PhysicalTables physical(L::Geometry::kPageSize);
    fake::g_current = &physical;
    typename TestFixture::Roots roots{fake::Memory(physical)};
    ASSERT_TRUE(roots.init(cpus));
    for (unsigned cpu = 0; cpu < cpus; ++cpu) ASSERT_TRUE(roots.create_root(cpu));
    // In the same sync-level table as the window, and in the first one.
    for (VirtAddr va : {L::kImage.start, L::kFixed.start, L::kLinear.start}) {
      ASSERT_TRUE(roots.install(va, Descriptor::table(*physical.allocate(L::Geometry::kPageSize))));
    }
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
      const auto difference = roots.compare(cpu);
      EXPECT_FALSE(difference) << "CPU " << cpu << " of " << cpus << " misses slot " << std::hex
                               << difference->va.value();
    }
  }
}

TYPED_TEST(KernelRootsTest, RootsMadeLaterHaveWhatWasInstalledBefore) {
  using L = TypeParam;
  ASSERT_TRUE(this->roots.init(3));
  ASSERT_TRUE(this->roots.create_root(0));
  const Descriptor table = this->some_table();
  ASSERT_TRUE(this->roots.install(L::kVmalloc.start, table));
  ASSERT_TRUE(this->roots.create_root(2));
  EXPECT_EQ(this->cpus_with(L::kVmalloc.start, table), 2U);
  EXPECT_FALSE(this->roots.compare(2));
  EXPECT_EQ(this->roots.cpus().count(), 2U);
  EXPECT_PANIC(this->roots.root_of(1), "CPU 1 has no root");
}

TYPED_TEST(KernelRootsTest, StoresAreOrderedUnderOneLock) {
  using L = TypeParam;
  using Moment = fake::PhysicalTables::Moment;
  this->start(5);
  const VirtAddr va = L::kImage.start;
  const Descriptor table = this->some_table();
  std::vector<Moment> moments;
  std::vector<unsigned> stored;
  this->physical.observer = [&](Moment moment) {
    moments.push_back(moment);
    stored.push_back(this->cpus_with(va, table) +
                     (this->slot(this->roots.master_root(), va) == table ? 1 : 0));
  };
  ASSERT_TRUE(this->roots.install(va, table));
  this->physical.observer = nullptr;
  EXPECT_EQ(moments, (std::vector<Moment>{Moment::lock, Moment::publish_table, Moment::publish_descriptor,
                                          Moment::unlock}));
  EXPECT_EQ(stored, (std::vector<unsigned>{0, 0, 6, 6}));
}

TYPED_TEST(KernelRootsTest, MappingThroughTheMasterPublishesTheTableFirst) {
  using L = TypeParam;
  using G = typename L::Geometry;
  using Moment = fake::PhysicalTables::Moment;
  this->start(5);
  const VirtAddr va = L::kVmalloc.start;
  bool complete_first = true, locked = true;
  this->physical.observer = [&](Moment moment) {
    if (moment == Moment::publish_table) complete_first = complete_first && !this->roots.master().query(va);
    if (this->slot(this->roots.master_root(), va).is_valid() && moment == Moment::publish_descriptor) {
      locked = locked && this->cpus_with(va, this->slot(this->roots.master_root(), va)) == 5;
    }
  };
  ASSERT_TRUE(this->roots.master().map(va, PhysAddr(1_GiB), G::kPageSize, arch::kKernelData));
  this->physical.observer = nullptr;
  EXPECT_TRUE(complete_first);
  EXPECT_TRUE(locked);
  for (unsigned cpu = 0; cpu < 5; ++cpu) {
    const PageTables<G, fake::Memory> own(fake::Memory(this->physical), this->roots.root_of(cpu));
    EXPECT_EQ(own.query(va)->pa, PhysAddr(1_GiB));
  }
  EXPECT_EQ(SyncCounters::total(this->roots.counters().boot), 1U);
}

TYPED_TEST(KernelRootsTest, RemovalReachesEveryCpuAndIsNotAnInstall) {
  using L = TypeParam;
  this->start(5);
  ASSERT_TRUE(this->roots.install(L::kLinear.start, this->some_table()));
  ASSERT_TRUE(this->roots.install(L::kLinear.start, Descriptor()));
  EXPECT_EQ(this->cpus_with(L::kLinear.start, Descriptor()), 5U);
  EXPECT_EQ(SyncCounters::total(this->roots.counters().boot), 1U);
}

TYPED_TEST(KernelRootsTest, WindowSlotsAreRefusedToTheMasterAndOthersToACpu) {
  using L = TypeParam;
  using G = typename L::Geometry;
  this->start(2);
  const auto before = this->physical.snapshot();
  EXPECT_EQ(this->roots.install(L::kLocal.start, this->some_table()).error(), Error::denied);
  const PhysAddr pa(1_GiB);
  auto master = this->roots.master();
  auto local = this->roots.local(1);
  EXPECT_EQ(master.map(L::kLocal.start, pa, G::kPageSize, arch::kKernelData).error(), Error::denied);
  EXPECT_EQ(master.map(L::kLocalSlots.start - G::kPageSize, pa, 2 * G::kPageSize, arch::kKernelData).error(),
            Error::denied);
  EXPECT_EQ(
      master.ensure_tables({L::kGlobal.start, VirtAddr(0) - L::kGlobal.start}, L::kSyncLevel + 1).error(),
      Error::denied);
  EXPECT_EQ(local.map(L::kImage.start, pa, G::kPageSize, arch::kKernelData).error(), Error::denied);
  EXPECT_EQ(local.map(L::kLocalSlots.end() - G::kPageSize, pa, 2 * G::kPageSize, arch::kKernelData).error(),
            Error::denied);
  auto after = this->physical.snapshot();
  std::erase_if(after, [&](const auto& table) { return !before.contains(table.first); });
  EXPECT_EQ(after, before);
}

TYPED_TEST(KernelRootsTest, Case35_NoValidToValidChangeAtTheSyncLevel) {
  using L = TypeParam;
  this->start(2);
  const Descriptor table = this->some_table();
  ASSERT_TRUE(this->roots.install(L::kVmalloc.start, table));
  EXPECT_TRUE(this->roots.install(L::kVmalloc.start, table));
  EXPECT_PANIC((void)this->roots.install(L::kVmalloc.start, this->some_table()), "sync level: ");
  EXPECT_FALSE(this->physical.locked);
  EXPECT_EQ(this->cpus_with(L::kVmalloc.start, table), 2U);
}

TYPED_TEST(KernelRootsTest, ComparisonFindsAPlantedDifference) {
  using L = TypeParam;
  this->start(5);
  ASSERT_TRUE(this->roots.install(L::kImage.start, this->some_table()));
  Descriptor& planted = this->slot(this->roots.root_of(3), L::kImage.start);
  const Descriptor right = planted;
  planted = Descriptor();
  const auto difference = this->roots.compare(3);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->va, L::kImage.start);
  EXPECT_EQ(difference->master, right);
  EXPECT_EQ(difference->own, Descriptor());
  EXPECT_FALSE(this->roots.compare(4));
  planted = right;
  EXPECT_FALSE(this->roots.compare(3));
  // In a root above the sync level too.
  if (TestFixture::kSyncsBelowRoot) {
    this->physical.at(this->roots.root_of(3))[0] = Descriptor();
    EXPECT_EQ(this->roots.compare(3)->va, TestFixture::G::kKernelStart);
  }
}

TYPED_TEST(KernelRootsTest, CountsInstallsByRegionAndTime) {
  using L = TypeParam;
  this->start(2);
  const auto at = [](Region region) { return static_cast<usize>(region); };
  ASSERT_TRUE(this->roots.install(L::kLinear.start, this->some_table()));
  this->roots.freeze_boot();
  EXPECT_EQ(SyncCounters::total(this->roots.counters().runtime), 0U);
  ASSERT_TRUE(this->roots.install(L::kVmalloc.start, this->some_table()));
  const SyncCounters counters = this->roots.counters();
  EXPECT_EQ(counters.boot[at(Region::linear)], 1U);
  EXPECT_EQ(counters.runtime[at(Region::vmalloc)], 1U);
  EXPECT_EQ(SyncCounters::total(counters.boot) + SyncCounters::total(counters.runtime), 2U);
}

TYPED_TEST(KernelRootsTest, WindowMappingsAreTheCpusOwn) {
  using L = TypeParam;
  using G = typename L::Geometry;
  this->start(3);
  const u64 empty = this->roots.private_table_bytes(1);
  EXPECT_EQ(empty, TestFixture::Roots::kBlockBytes + (TestFixture::kSyncsBelowRoot ? G::kPageSize : 0));
  ASSERT_TRUE(this->roots.local(1).map(L::kLocal.start, PhysAddr(1_GiB), G::kPageSize, arch::kKernelData));
  EXPECT_TRUE(this->roots.local(1).query(L::kLocal.start));
  EXPECT_FALSE(this->roots.local(0).query(L::kLocal.start));
  EXPECT_FALSE(this->roots.master().query(L::kLocal.start));
  for (unsigned cpu = 0; cpu < 3; ++cpu) EXPECT_FALSE(this->roots.compare(cpu));
  EXPECT_EQ(this->roots.private_table_bytes(1),
            empty + static_cast<u64>(arch::kPageLevel - L::kSyncLevel) * G::kPageSize);
}

TYPED_TEST(KernelRootsTest, LeavesAtTheSyncLevelAreSyncedAndNeverProtectedInPlace) {
  using L = TypeParam;
  using G = typename L::Geometry;
  if constexpr (!G::has_blocks(L::kSyncLevel)) return;  // only small VA sizes have such leaves
  this->start(5);
  const VirtAddr va = L::kLinear.start;
  ASSERT_TRUE(this->roots.master().map(va, PhysAddr(64_GiB), L::kSlotBytes, arch::kKernelData));
  for (unsigned cpu = 0; cpu < 5; ++cpu) EXPECT_FALSE(this->roots.compare(cpu));
  fake::Sink sink;
  RetiredTables retired;
  EXPECT_EQ(this->roots.master().protect({va, L::kSlotBytes}, arch::kKernelReadOnly, sink).error(),
            Error::denied);
  ASSERT_TRUE(this->roots.master().unmap({va, L::kSlotBytes}, sink, retired));
  EXPECT_TRUE(retired.empty());
  EXPECT_EQ(this->cpus_with(va, Descriptor()), 5U);
}

TYPED_TEST(KernelRootsTest, TablesLinkedAtTheSyncLevelAreNeverRetired) {
  using L = TypeParam;
  using G = typename L::Geometry;
  this->start(2);
  fake::Sink sink;
  RetiredTables retired;
  ASSERT_TRUE(this->roots.master().map(L::kVmalloc.start, PhysAddr(1_GiB), G::kPageSize, arch::kKernelData));
  ASSERT_TRUE(this->roots.master().unmap({L::kVmalloc.start, G::kPageSize}, sink, retired));
  EXPECT_EQ(retired.count(), static_cast<usize>(arch::kPageLevel - L::kSyncLevel - 1));
  EXPECT_TRUE(this->slot(this->roots.master_root(), L::kVmalloc.start).is_valid());
  this->roots.master().free_tables(retired);
}

TYPED_TEST(KernelRootsTest, NothingAboveTheSyncLevelIsEverStored) {
  using L = TypeParam;
  using G = typename L::Geometry;
  this->start(2);
  if constexpr (TestFixture::kSyncsBelowRoot) {
    const Descriptor* master = this->physical.at(this->roots.master_root());
    for (usize i = 0; i < G::kRootEntries; ++i) EXPECT_TRUE(master[i].is_table(G::kRootLevel)) << i;
    const VirtAddr window = L::kLocal.start;
    EXPECT_NE(this->sync_table(this->roots.root_of(0), window),
              this->sync_table(this->roots.root_of(1), window));
    EXPECT_EQ(this->sync_table(this->roots.root_of(0), L::kLinear.start),
              this->sync_table(this->roots.master_root(), L::kLinear.start));
  }
}

TYPED_TEST(KernelRootsTest, OutOfMemoryLeavesNoHalfMadeRoot) {
  ASSERT_TRUE(this->roots.init(160));
  const usize before = this->physical.count();
  const usize need = TestFixture::kSyncsBelowRoot ? 2 : 1;
  for (usize k = 0; k < need; ++k) {
    this->physical.allocations_left = k;
    EXPECT_EQ(this->roots.create_root(0).error(), Error::no_memory);
    EXPECT_EQ(this->physical.count(), before);
    EXPECT_TRUE(this->roots.cpus().empty());
  }
  this->physical.allocations_left = need;
  EXPECT_TRUE(this->roots.create_root(0));
}

}  // namespace
}  // namespace atl::mm
