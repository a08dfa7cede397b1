#include "lib/address.hpp"

#include <type_traits>

#include "tests/host/support.hpp"

namespace atl {
namespace {

static_assert(!std::is_convertible_v<u64, PhysAddr>);
static_assert(!std::is_convertible_v<PhysAddr, u64>);
static_assert(!std::is_convertible_v<PhysAddr, VirtAddr>);
static_assert(!std::is_constructible_v<VirtAddr, PhysAddr>);
static_assert(!std::is_constructible_v<PhysAddr, void*>);
static_assert(sizeof(PhysAddr) == 8);

TEST(Address, Alignment) {
  EXPECT_EQ(align_up(0, 4096), 0u);
  EXPECT_EQ(align_up(1, 4096), 4096u);
  EXPECT_EQ(align_up(4096, 4096), 4096u);
  EXPECT_EQ(align_down(8191, 4096), 4096u);
  EXPECT_EQ(align_up(~u64{0}, 4096), 0u) << "wraps past the last multiple";
  EXPECT_TRUE(PhysAddr(0x10000).is_aligned(65536));
  EXPECT_FALSE(PhysAddr(0x12000).is_aligned(65536));
  EXPECT_EQ(PhysAddr(0x12345).align_down(0x1000), PhysAddr(0x12000));
  EXPECT_EQ(PhysAddr(0x12345).align_up(0x1000), PhysAddr(0x13000));
  EXPECT_TRUE(is_power_of_two(1));
  EXPECT_FALSE(is_power_of_two(0));
  EXPECT_FALSE(is_power_of_two(6));
}

TEST(Address, Arithmetic) {
  VirtAddr va(0x1000);
  va += 0x20;
  va -= 0x10;
  EXPECT_EQ(va, VirtAddr(0x1010));
  EXPECT_EQ(va + 0x10 - VirtAddr(0x1000), 0x20u);
  EXPECT_LT(va, va + 1);
  EXPECT_EQ(VirtAddr(0) - 0x1000, VirtAddr(0xffff'ffff'ffff'f000));
}

TEST(Address, PointersThereAndBack) {
  int object = 3;
  EXPECT_EQ(pointer_to<int>(address_of(&object)), &object);
}

TEST(AddressRange, ContainsAddresses) {
  constexpr PhysRange r{PhysAddr(100), 50};
  EXPECT_TRUE(r.contains(PhysAddr(100)));
  EXPECT_TRUE(r.contains(PhysAddr(149)));
  EXPECT_FALSE(r.contains(PhysAddr(150)));
  EXPECT_FALSE(r.contains(PhysAddr(99)));
  EXPECT_EQ(r.end(), PhysAddr(150));
  EXPECT_FALSE((PhysRange{PhysAddr(100), 0}.contains(PhysAddr(100))));
}

TEST(AddressRange, ContainsRanges) {
  constexpr PhysRange r{PhysAddr(100), 50};
  EXPECT_TRUE(r.contains(r));
  EXPECT_TRUE(r.contains(PhysRange{PhysAddr(149), 1}));
  EXPECT_FALSE(r.contains(PhysRange{PhysAddr(149), 2}));
  EXPECT_FALSE(r.contains(PhysRange{PhysAddr(99), 2}));
  EXPECT_FALSE(r.contains(PhysRange{PhysAddr(120), ~u64{0}})) << "a sum that wraps must not look small";
  EXPECT_TRUE(r.contains(PhysRange{PhysAddr(7), 0})) << "the empty range is everywhere";
}

TEST(AddressRange, Overlaps) {
  constexpr PhysRange r{PhysAddr(100), 50};
  EXPECT_TRUE(r.overlaps(r));
  EXPECT_TRUE(r.overlaps({PhysAddr(149), 100}));
  EXPECT_TRUE(r.overlaps({PhysAddr(0), 101}));
  EXPECT_TRUE(r.overlaps({PhysAddr(0), 1000}));
  EXPECT_FALSE(r.overlaps({PhysAddr(150), 1}));
  EXPECT_FALSE(r.overlaps({PhysAddr(0), 100}));
  EXPECT_FALSE(r.overlaps({PhysAddr(120), 0}));
}

TEST(AddressRange, MayEndWithTheAddressSpace) {
  constexpr VirtRange top{VirtAddr(0) - 0x2000, 0x2000};
  EXPECT_EQ(top.end(), VirtAddr(0));
  EXPECT_TRUE(top.contains(VirtAddr(~u64{0})));
  EXPECT_FALSE(top.contains(VirtAddr(0)));
  EXPECT_TRUE(top.overlaps({VirtAddr(0) - 0x3000, 0x1001}));
  EXPECT_TRUE(top.overlaps({VirtAddr(0) - 0x1000, 0x1000}));
  EXPECT_FALSE(top.overlaps({VirtAddr(0) - 0x3000, 0x1000}));
}

}  // namespace
}  // namespace atl
