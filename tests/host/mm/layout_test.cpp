#include "mm/layout.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace atl::mm {
namespace {

using arch::Geometry;
using arch::Granule;

struct Named {
  std::string_view name;
  VirtRange range;
};

/// What docs/memory-layout.md says of a configuration.
struct Expected {
  usize root_entries;
  int sync_level;
  u64 slot;
  u64 unit;
};

template <Granule Gr, unsigned Va, usize RootEntries, int SyncLevel, u64 Slot, u64 Unit>
struct Configuration {
  using L = Layout<Geometry<Gr, Va>>;
  static constexpr Expected kExpected{RootEntries, SyncLevel, Slot, Unit};
};

using Configurations = ::testing::Types<Configuration<Granule::k4K, 48, 512, 0, 512_GiB, 1_GiB>,
                                        Configuration<Granule::k4K, 39, 512, 1, 1_GiB, 128_MiB>,
                                        Configuration<Granule::k16K, 47, 2048, 1, 64_GiB, 1_GiB>,
                                        Configuration<Granule::k16K, 36, 2048, 2, 32_MiB, 32_MiB>,
                                        Configuration<Granule::k16K, 48, 2, 1, 64_GiB, 1_GiB>,
                                        Configuration<Granule::k64K, 48, 64, 1, 4_TiB, 1_GiB>,
                                        Configuration<Granule::k64K, 42, 8192, 2, 512_MiB, 512_MiB>,
                                        Configuration<Granule::k64K, 52, 1024, 1, 4_TiB, 1_GiB>,
                                        Configuration<Granule::k4K, 52, 16, 0, 512_GiB, 1_GiB>,
                                        Configuration<Granule::k16K, 52, 32, 1, 64_GiB, 1_GiB>>;

struct ConfigurationName {
  template <class C>
  static std::string GetName(int) {
    using G = typename C::L::Geometry;
    return std::string(arch::to_string(G::kGranule)) + "_" + std::to_string(G::kVaBits);
  }
};

template <class C>
class LayoutOf : public ::testing::Test {
 protected:
  using L = typename C::L;
  static constexpr std::array<Named, 8> kRegions{{{"linear", L::kLinear},
                                                  {"shadow", L::kShadow},
                                                  {"vmemmap", L::kVmemmap},
                                                  {"vmalloc", L::kVmalloc},
                                                  {"fixed", L::kFixed},
                                                  {"global", L::kGlobal},
                                                  {"local", L::kLocalSlots},
                                                  {"image", L::kImage}}};
};
TYPED_TEST_SUITE(LayoutOf, Configurations, ConfigurationName);

TYPED_TEST(LayoutOf, HasTheShapeOfTheTable) {
  using L = typename TypeParam::L;
  constexpr Expected expected = TypeParam::kExpected;
  EXPECT_EQ(L::Geometry::kRootEntries, expected.root_entries);
  EXPECT_EQ(L::kSyncLevel, expected.sync_level);
  EXPECT_EQ(L::kSlotBytes, expected.slot);
  EXPECT_EQ(L::kUnitBytes, expected.unit);
}

TYPED_TEST(LayoutOf, RegionsFillTheKernelHalfInOrderAndShareNoSlot) {
  using L = typename TypeParam::L;
  VirtAddr next = L::Geometry::kKernelStart;
  for (const Named& region : this->kRegions) {
    EXPECT_EQ(region.range.start, next) << region.name;
    EXPECT_FALSE(region.range.empty()) << region.name;
    EXPECT_LE(region.range.size, L::Geometry::kKernelBytes) << region.name << " wraps";
    EXPECT_TRUE(region.range.start.is_aligned(L::kSlotBytes)) << region.name;
    EXPECT_TRUE(is_aligned(region.range.size, L::kSlotBytes)) << region.name;
    next = region.range.end();
  }
  EXPECT_EQ(next, VirtAddr(0)) << "the image ends where the address space does";
}

TYPED_TEST(LayoutOf, LinearMapShadowAndVmemmapHaveTheirShares) {
  using L = typename TypeParam::L;
  EXPECT_EQ(L::kLinear.size, L::Geometry::kKernelBytes / 2);
  EXPECT_EQ(L::kShadow.size, L::Geometry::kKernelBytes / 8);
  EXPECT_GE(L::kVmemmap.size, L::kLinear.size / L::Geometry::kPageSize * kPageStructBytes);
}

TYPED_TEST(LayoutOf, LocalWindowIsOneUnitBelowTheImage) {
  using L = typename TypeParam::L;
  EXPECT_EQ(L::kLocal.start, L::kImage.start - L::kUnitBytes);
  EXPECT_TRUE(L::kLocalSlots.contains(L::kLocal));
  EXPECT_EQ(L::kLocalSlots.end(), L::kLocal.end());
  EXPECT_TRUE(L::kLocal.start.is_aligned(L::kLastTableSpan));
}

TYPED_TEST(LayoutOf, AdrpReachesTheLocalWindowFromKernelText) {
  // adrp reaches 4 GiB either way. Text lies in the image's first 128 MiB.
  using L = typename TypeParam::L;
  EXPECT_GE(L::kImage.size, 128_MiB);
  EXPECT_LE(L::kImage.start + 128_MiB - L::kLocal.start, 4_GiB);
}

TYPED_TEST(LayoutOf, LinkTimeAddressesDoNotDependOnWideAddressing) {
  // With 52 bits the same image must also run on a CPU that has only 48.
  using L = typename TypeParam::L;
  constexpr VirtAddr kTopOf48(~u64{0} << 48);
  for (const VirtRange& range : {L::kImage, L::kLocal, L::kGlobal, L::kFixed}) {
    EXPECT_GE(range.start, kTopOf48);
  }
}

TYPED_TEST(LayoutOf, UnitsOfAllCpusFitAndDoNotOverlap) {
  using L = typename TypeParam::L;
  EXPECT_EQ(L::unit(0), L::kGlobal.start);
  for (unsigned cpu = 0; cpu < kMaxCpus; ++cpu) {
    const VirtRange unit{L::unit(cpu), L::kUnitBytes};
    EXPECT_TRUE(L::kGlobal.contains(unit)) << cpu;
    EXPECT_TRUE(unit.start.is_aligned(L::kUnitTableSpan)) << cpu;
    if (cpu > 0) {
      EXPECT_EQ(unit.start, L::unit(cpu - 1) + L::kUnitBytes);
    }
  }
}

TYPED_TEST(LayoutOf, OffsetsLeadFromTheLocalAddressToTheUnitAndBack) {
  using L = typename TypeParam::L;
  for (const unsigned cpu : {0u, 1u, 15u, 16u, 159u, kMaxCpus - 1}) {
    const u64 offset = L::percpu_offset(cpu);
    EXPECT_EQ(L::kLocal.start + offset, L::unit(cpu));
    EXPECT_EQ(L::kLocal.end() - 8 + offset, L::unit(cpu) + L::kUnitBytes - 8);
    EXPECT_EQ(L::cpu_of_offset(offset), cpu);
  }
}

TYPED_TEST(LayoutOf, BothWindowsCanLinkTheSameTables) {
  // A table may be linked at two addresses only if both agree in all that it resolves.
  using L = typename TypeParam::L;
  EXPECT_TRUE(is_power_of_two(L::kUnitBytes));
  EXPECT_EQ(L::kUnitTables * L::kUnitTableSpan, L::kUnitBytes);
  EXPECT_GT(L::kUnitTableLevel, L::kSyncLevel) << "the shared tables lie below the private ones";
  EXPECT_TRUE(is_aligned(L::percpu_offset(1), L::kUnitTableSpan));
  EXPECT_TRUE(is_aligned(L::percpu_offset(kMaxCpus - 1), L::kUnitTableSpan));
}

TYPED_TEST(LayoutOf, SlotsOfTheLocalWindowHoldNothingElse) {
  using L = typename TypeParam::L;
  const usize first = L::slot_of(L::kLocalSlots.start);
  const usize last = L::slot_of(L::kLocalSlots.end() - 1);
  EXPECT_EQ(L::slot_of(L::kGlobal.end() - 1) + 1, first);
  EXPECT_EQ(L::slot_of(L::kImage.start), last + 1);
  EXPECT_EQ(L::kLocalSlots.start.value() >> L::Geometry::shift(L::kSyncLevel - 1),
            L::kImage.start.value() >> L::Geometry::shift(L::kSyncLevel - 1))
      << "one table at the sync level holds the window and the image";
}

TYPED_TEST(LayoutOf, StacksAndFixedWindowsLieInTheirRegions) {
  using L = typename TypeParam::L;
  EXPECT_TRUE(L::kVmalloc.contains(L::kStacks));
  using Slots = StackSlots<typename L::Geometry>;
  EXPECT_TRUE(L::kStacks.start.is_aligned(Slots::kSlotBytes));
  EXPECT_EQ(L::stack(kStackSlots - 1).end(), L::kStacks.end());
  EXPECT_GE(Slots::kStackBytes, 16_KiB);
  EXPECT_TRUE(is_aligned(Slots::kStackBytes, L::Geometry::kPageSize));

  const std::array windows{L::kFixDeviceTree, L::kFixConsole, L::kFixEarlycon, L::kFixPatch, L::kDevices};
  VirtAddr previous = L::kFixed.start;
  for (const VirtRange& window : windows) {
    EXPECT_TRUE(L::kFixed.contains(window));
    EXPECT_GE(window.start, previous);
    EXPECT_TRUE(window.start.is_aligned(L::Geometry::kPageSize));
    previous = window.end();
  }
  // GICR frames of all CPUs, 128 KiB each.
  EXPECT_GE(L::kDevices.size, kMaxCpus * 128_KiB);
}

}  // namespace
}  // namespace atl::mm
