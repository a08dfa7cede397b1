#include "mm/stack_slots.hpp"

#include <gtest/gtest.h>

namespace atl::mm {
namespace {

using arch::Geometry;
using arch::Granule;

template <class G>
class StackSlotsOf : public ::testing::Test {
 protected:
  using Slots = StackSlots<G>;
  static constexpr u64 kStack = Slots::kStackBytes;
  static constexpr u64 kSlot = Slots::kSlotBytes;
  static constexpr VirtAddr kFirst{0xffff'a200'0000'0000};
};

using Granules =
    ::testing::Types<Geometry<Granule::k4K, 48>, Geometry<Granule::k16K, 47>, Geometry<Granule::k64K, 48>>;
TYPED_TEST_SUITE(StackSlotsOf, Granules);

TYPED_TEST(StackSlotsOf, StackIsTheUpperHalfOfItsSlot) {
  EXPECT_EQ(TestFixture::Slots::stack_of(this->kFirst, 0),
            (VirtRange{this->kFirst + this->kStack, this->kStack}));
  EXPECT_EQ(TestFixture::Slots::stack_of(this->kFirst, 159),
            (VirtRange{this->kFirst + 159 * this->kSlot + this->kStack, this->kStack}));
  // What lies between two stacks is a guard as large as a stack.
  const VirtRange below = TestFixture::Slots::stack_of(this->kFirst, 4);
  const VirtRange above = TestFixture::Slots::stack_of(this->kFirst, 5);
  EXPECT_EQ(above.start - below.end(), this->kStack);
}

TYPED_TEST(StackSlotsOf, StackIsFoundFromAnyPointerIntoItsSlot) {
  const VirtRange stack = TestFixture::Slots::stack_of(this->kFirst, 7);
  for (const VirtAddr sp : {stack.start, stack.start + 16, stack.end() - 16}) {
    EXPECT_EQ(TestFixture::Slots::stack_around(sp), stack);
  }
  // After an overflow, down to the guard's lowest byte, and no further.
  EXPECT_EQ(TestFixture::Slots::stack_around(stack.start - 16), stack);
  EXPECT_EQ(TestFixture::Slots::stack_around(stack.start - this->kStack), stack);
  EXPECT_EQ(TestFixture::Slots::stack_around(stack.start - this->kStack - 16),
            TestFixture::Slots::stack_of(this->kFirst, 6));
}

TYPED_TEST(StackSlotsOf, OneBitTellsAnOverflow) {
  const VirtRange stack = TestFixture::Slots::stack_of(this->kFirst, 3);
  for (u64 offset = 0; offset < this->kStack; offset += this->kStack / 8) {
    EXPECT_NE((stack.start + offset).value() & this->kStack, 0u);
    EXPECT_EQ((stack.start - this->kStack + offset).value() & this->kStack, 0u);
  }
}

}  // namespace
}  // namespace atl::mm
