#include "mm/linear_map.hpp"

#include <gtest/gtest.h>

#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

using L = KernelLayout;

struct LinearMap : ::testing::Test {
  LinearMap() : before(linear_map_base()) { linear_map_init(base); }
  ~LinearMap() override { linear_map_init(before); }

  const PhysAddr before;
  const PhysAddr base{3_GiB};
};

TEST_F(LinearMap, BeginsAtTheBase) {
  EXPECT_EQ(linear_map_base(), base);
  EXPECT_EQ(phys_to_virt(base), L::kLinear.start);
  EXPECT_EQ(phys_to_virt(base + 5_GiB + 17), L::kLinear.start + 5_GiB + 17);
}

TEST_F(LinearMap, ConversionsAreEachOthersInverse) {
  for (const u64 offset : {u64{0}, u64{1}, 64_KiB, 1_TiB, L::kLinear.size - 1}) {
    EXPECT_EQ(virt_to_phys(phys_to_virt(base + offset)), base + offset);
  }
}

TEST_F(LinearMap, RefusesAddressesThatAreNotLinear) {
  EXPECT_PANIC((void)virt_to_phys(L::kLinear.end()), "is not in the linear map");
  EXPECT_PANIC((void)virt_to_phys(L::kVmalloc.start), "is not in the linear map");
  EXPECT_PANIC((void)virt_to_phys(L::kImage.start + 4_KiB), "is not in the linear map");
  EXPECT_PANIC((void)virt_to_phys(L::kGlobal.start), "is not in the linear map");
  EXPECT_PANIC((void)virt_to_phys(VirtAddr(4_KiB)), "is not in the linear map");
}

TEST_F(LinearMap, NamesLocalPerCpuAddresses) {
  EXPECT_PANIC((void)virt_to_phys(L::kLocal.start + 8), "is a local per-CPU address; use the global alias");
}

}  // namespace
}  // namespace atl::mm
