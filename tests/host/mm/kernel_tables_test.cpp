#include "mm/kernel_tables.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "arch/cpu.hpp"
#include "tests/host/fake/events.hpp"

namespace atl::mm {
namespace {

// Nobody changes tables but by their owner.
static_assert(std::is_same_v<decltype(kernel_roots()), const Roots&>);

struct KernelTablesTest : ::testing::Test {
  void SetUp() override { arch::fake::set_cpu_features({.physical_bits = 40}); }
  void TearDown() override { arch::fake::set_cpu_features({}); }
};

TEST_F(KernelTablesTest, Case19_DevicesBeyondThePhysicalRangeAreRefused) {
  const PhysAddr end{u64{1} << 40};
  EXPECT_EQ(addressable(), (PhysRange{PhysAddr(0), end.value()}));
  EXPECT_EQ(map_device({end, 4_KiB}).error(), Error::out_of_range);
  EXPECT_EQ(map_device({end - 4_KiB, 8_KiB}).error(), Error::out_of_range);
  EXPECT_EQ(map_device({PhysAddr(0x0900'0000), u64{1} << 40}).error(), Error::out_of_range);
  EXPECT_EQ(map_device({PhysAddr(~u64{0xfff}), 8_KiB}).error(), Error::out_of_range) << "its end wraps";
  EXPECT_EQ(map_device({PhysAddr(0x0900'0000), 0}).error(), Error::out_of_range);
}

TEST_F(KernelTablesTest, DevicesThatDoNotFitTheirRegionAreRefused) {
  EXPECT_EQ(map_device({PhysAddr(0), KernelLayout::kDevices.size + 1}).error(), Error::no_memory);
}

TEST_F(KernelTablesTest, OwnerHasInterruptsMasked) {
  ASSERT_FALSE(arch::irqs_masked());
  EXPECT_TRUE(with_kernel_tables([](KernelTables&) { return arch::irqs_masked(); }));
  EXPECT_FALSE(arch::irqs_masked());
}

}  // namespace
}  // namespace atl::mm
