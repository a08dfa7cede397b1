#include "percpu/migration.hpp"

#include <gtest/gtest.h>

namespace atl::percpu {
namespace {

static_assert(!std::is_copy_constructible_v<PreemptOff> && !std::is_copy_assignable_v<PreemptOff>);
static_assert(!std::is_constructible_v<MigrationOff>, "a proof comes only from what turns migration off");

ThreadState thread;

TEST(Migration, PreemptOffNests) {
  thread = {};
  arch::set_current(&thread);
  {
    const PreemptOff outer;
    {
      const PreemptOff inner;
      EXPECT_EQ(thread.preempt.count(), 2u);
    }
    EXPECT_EQ(thread.preempt.count(), 1u);
  }
  EXPECT_EQ(thread.preempt.count(), 0u);
}

TEST(Migration, IrqsOffRestoresWhatItFound) {
  {
    const IrqsOff outer;
    {
      const IrqsOff inner;
      EXPECT_TRUE(arch::irqs_masked());
    }
    EXPECT_TRUE(arch::irqs_masked());
  }
  EXPECT_FALSE(arch::irqs_masked());
}

}  // namespace
}  // namespace atl::percpu
