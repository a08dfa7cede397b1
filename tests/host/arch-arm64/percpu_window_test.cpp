#include "arch-arm64/percpu_window.hpp"

#include <gtest/gtest.h>

namespace atl::arch {
namespace {

template <class G>
class PerCpuWindowTest : public testing::Test {};

using Geometries =
    testing::Types<Geometry<Granule::k4K, 48>, Geometry<Granule::k4K, 39>, Geometry<Granule::k16K, 48>,
                   Geometry<Granule::k16K, 47>, Geometry<Granule::k16K, 36>, Geometry<Granule::k64K, 48>,
                   Geometry<Granule::k64K, 42>>;
TYPED_TEST_SUITE(PerCpuWindowTest, Geometries);

TYPED_TEST(PerCpuWindowTest, LocalWindowEndsWhereTheImageBegins) {
  using W = PerCpuWindow<TypeParam>;
  EXPECT_EQ(W::kLocal.end(), W::kImage.start);
  EXPECT_EQ(W::kLocal.size, W::kUnitBytes);
  EXPECT_EQ(W::kImage.end(), VirtAddr(0));
}

TYPED_TEST(PerCpuWindowTest, WindowsShareNoSlot) {
  using W = PerCpuWindow<TypeParam>;
  EXPECT_TRUE(W::kLocalSlots.contains(W::kLocal));
  EXPECT_EQ(W::kLocalSlots.end(), W::kImage.start);
  EXPECT_EQ(W::kGlobal.end(), W::kLocalSlots.start);
  for (const VirtRange& range : {W::kLocalSlots, W::kGlobal, W::kImage}) {
    EXPECT_TRUE(range.start.is_aligned(W::kSlotBytes));
    EXPECT_EQ(range.size % W::kSlotBytes, 0u);
  }
}

TYPED_TEST(PerCpuWindowTest, EveryCpuHasAUnitInTheGlobalWindow) {
  using W = PerCpuWindow<TypeParam>;
  for (const unsigned cpu : {0u, 1u, 159u, kMaxCpus - 1}) {
    const VirtRange unit{W::unit(cpu), W::kUnitBytes};
    EXPECT_TRUE(W::kGlobal.contains(unit)) << cpu;
    EXPECT_TRUE(unit.start.is_aligned(W::kLastTableSpan)) << cpu;
    EXPECT_EQ(W::kLocal.start + W::percpu_offset(cpu), unit.start) << cpu;
    EXPECT_EQ(W::cpu_of_offset(W::percpu_offset(cpu)), cpu);
  }
  EXPECT_EQ(W::percpu_offset(1) - W::percpu_offset(0), W::kUnitBytes);
}

}  // namespace
}  // namespace atl::arch
