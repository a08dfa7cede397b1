#include "percpu/alias.hpp"

#include <gtest/gtest.h>

#include "tests/host/fake/percpu_units.hpp"

namespace atl::percpu {
namespace {

ATOLL_PER_CPU u32 variable = 3;

TEST(PerCpuAlias, LocalAddressesAreThoseInTheWindow) {
  u32 on_stack = 0;
  EXPECT_TRUE(is_local_address(&variable));
  EXPECT_FALSE(is_local_address(&on_stack));
  const arch::fake::PerCpuUnits units(1);
  EXPECT_FALSE(is_local_address(global_alias(&variable, arch::percpu_offset_of(0))));
}

TEST(PerCpuAlias, LeadsToEachCpusCopy) {
  const arch::fake::PerCpuUnits units(2);
  u32* first = global_alias(&variable, arch::percpu_offset_of(0));
  u32* second = global_alias(&variable, arch::percpu_offset_of(1));
  EXPECT_NE(first, second);
  *first = 8;
  EXPECT_EQ(*second, 3u);
  EXPECT_EQ(variable, 3u);
}

}  // namespace
}  // namespace atl::percpu
