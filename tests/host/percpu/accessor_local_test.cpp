#include "percpu/accessor_local.hpp"

#include <gtest/gtest.h>

#include "arch/cpu.hpp"
#include "tests/host/fake/events.hpp"

namespace atl::percpu {
namespace {

// The address is the operand as it stands, and no thread is needed: nothing else makes the operation one step.
TEST(LocalAccessor, UsesNeitherTheOffsetNorTheThread) {
  arch::fake::set_percpu_offset(0x1000);
  arch::set_current(nullptr);
  u64 word = 5;
  LocalAccessor::add(&word, u64{2});
  EXPECT_EQ(LocalAccessor::read(static_cast<const u64*>(&word)), 7u);
  EXPECT_EQ(word, 7u);
}

}  // namespace
}  // namespace atl::percpu
