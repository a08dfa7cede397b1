#include "arch-arm64/gic_v3_registers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace atl::arch::gic::v3 {
namespace {

constexpr u64 kLast = 1 << 4;
constexpr u64 kVirtualLpis = 1 << 1;

constexpr u64 typer(Affinity affinity, u64 flags = 0) { return u64{affinity.packed()} << 32 | flags; }
/// The affinity of CPU n on QEMU `virt`.
constexpr Affinity virt_affinity(unsigned n) { return Affinity::of_packed((n / 16) << 8 | n % 16); }

/// GICR_TYPER by frame address. Reading anything else is what a walk past its region would do.
class Frames {
 public:
  /// `count` frames from `start` on, the last one marked. Returns the region they just fill.
  VirtRange add_region(VirtAddr start, unsigned first_cpu, unsigned count, u64 flags = 0, u64 stride = 0) {
    if (stride == 0) stride = RedistributorType(flags).bytes();
    for (unsigned i = 0; i < count; ++i) {
      typers_[start + i * stride] = typer(virt_affinity(first_cpu + i), flags | (i + 1 == count ? kLast : 0));
    }
    return {start, count * stride};
  }
  void set(VirtAddr base, u64 value) { typers_[base] = value; }

  std::map<VirtAddr, Affinity> walk(std::vector<VirtRange> regions, u64 stride = 0) const {
    std::map<VirtAddr, Affinity> found;
    for_each_redistributor(
        regions, stride, [this](VirtAddr base) { return typers_.at(base); },
        [&](VirtAddr base, RedistributorType type) { found.emplace(base, type.affinity()); });
    return found;
  }

 private:
  std::map<VirtAddr, u64> typers_;
};

TEST(GicV3Registers, Case1_FindsEveryFrameInEveryRegion) {
  // QEMU `virt -smp 160`: 123 frames below 1 GiB, 37 at 256 GiB.
  Frames frames;
  const VirtRange low = frames.add_region(VirtAddr(0x080a0000), 0, 123);
  const VirtRange high = frames.add_region(VirtAddr(256_GiB), 123, 37);
  const auto found = frames.walk({low, high});
  ASSERT_EQ(found.size(), 160u) << "redistributors found in 2 regions";
  EXPECT_EQ(found.at(VirtAddr(0x080a0000)), virt_affinity(0));
  EXPECT_EQ(found.at(VirtAddr(256_GiB)), virt_affinity(123));
  EXPECT_EQ(found.at(VirtAddr(256_GiB + 36 * 128_KiB)).packed(), 0x90fu);
}

TEST(GicV3Registers, WalkEndsAtTheLastFrameOfARegion) {
  // A region may be larger than what is in it, and what is behind must not be read.
  Frames frames;
  VirtRange region = frames.add_region(VirtAddr(0x080a0000), 0, 4);
  region.size = 123 * 128_KiB;
  EXPECT_EQ(frames.walk({region}).size(), 4u);
}

TEST(GicV3Registers, WalkNeverLeavesARegionWithoutALastFrame) {
  Frames frames;
  const VirtAddr start(0x080a0000);
  for (unsigned i = 0; i < 3; ++i) frames.set(start + i * 128_KiB, typer(virt_affinity(i)));
  EXPECT_EQ(frames.walk({{start, 3 * 128_KiB}}).size(), 3u);
  EXPECT_EQ(frames.walk({{start, 3 * 128_KiB - 4_KiB}}).size(), 2u);
  EXPECT_TRUE(frames.walk({{start, 64_KiB}}).empty());
  EXPECT_TRUE(frames.walk({{start, 0}}).empty());
  EXPECT_TRUE(frames.walk({}).empty());
}

TEST(GicV3Registers, FramesWithVirtualLpisAreTwiceAsLarge) {
  Frames frames;
  const VirtRange region = frames.add_region(VirtAddr(0x080a0000), 0, 5, kVirtualLpis);
  const auto found = frames.walk({region});
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found.at(VirtAddr(0x080a0000 + 4 * 256_KiB)), virt_affinity(4));
}

TEST(GicV3Registers, TheTreesStrideGoesBeforeTheType) {
  Frames frames;
  const VirtRange region = frames.add_region(VirtAddr(0x080a0000), 0, 5, 0, 512_KiB);
  const auto found = frames.walk({region}, 512_KiB);
  ASSERT_EQ(found.size(), 5u) << "redistributor-stride is not honoured";
  EXPECT_EQ(found.at(VirtAddr(0x080a0000 + 4 * 512_KiB)), virt_affinity(4));
}

TEST(GicV3Registers, AStrideThatCannotBeIsIgnored) {
  Frames frames;
  const VirtRange region = frames.add_region(VirtAddr(0x080a0000), 0, 5);
  for (const u64 stride : {u64{1}, 64_KiB, 128_KiB + 4_KiB}) {
    EXPECT_EQ(frames.walk({region}, stride).size(), 5u) << stride;
  }
  EXPECT_EQ(frames.walk({region}, ~u64{0} - 64_KiB + 1).size(), 1u) << "a huge stride leaves the region";
}

TEST(GicV3Registers, RegionAtTheEndOfTheAddressSpace) {
  Frames frames;
  const VirtRange region = frames.add_region(VirtAddr(~u64{0} - 256_KiB + 1), 0, 2);
  EXPECT_EQ(frames.walk({region}).size(), 2u);
}

TEST(GicV3Registers, RegistersOfTheDistributor) {
  EXPECT_EQ(distributor::route_register(32), 0x6100u);
  EXPECT_EQ(distributor::architecture(0x3b), 3u);
}

}  // namespace
}  // namespace atl::arch::gic::v3
