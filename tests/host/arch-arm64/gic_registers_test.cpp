#include "arch-arm64/gic_registers.hpp"

#include <gtest/gtest.h>

namespace atl::arch::gic {
namespace {

TEST(GicRegisters, InterruptCount) {
  EXPECT_EQ(interrupt_count(0), 32u);
  EXPECT_EQ(interrupt_count(8), 288u);
  EXPECT_EQ(interrupt_count(0xffff'ffe0), 32u);
  EXPECT_EQ(interrupt_count(31), kFirstSpecial) << "1020 .. 1023 are no interrupts";
}

TEST(GicRegisters, RegistersOfAnInterrupt) {
  EXPECT_EQ(register_of(BitArray::set_enable, 31), 0x100u);
  EXPECT_EQ(register_of(BitArray::set_enable, 33), 0x104u);
  EXPECT_EQ(register_of(BitArray::group, 287), 0x80u + 8 * 4);
  EXPECT_EQ(register_of(BitArray::clear_enable, 64), 0x188u);
  EXPECT_EQ(register_of(BitArray::clear_pending, 0), 0x280u);
  EXPECT_EQ(register_of(BitArray::clear_active, 32), 0x384u);
  EXPECT_EQ(bit_of(33), 2u);
  EXPECT_EQ(bit_of(31), 0x8000'0000u);
  EXPECT_EQ(priority_register(35), 0x420u);
}

TEST(GicRegisters, WithoutFiqsAllInterruptsAreEqual) {
  const FiqSgis none;
  EXPECT_FALSE(none.any());
  EXPECT_EQ(none.group1(), ~u32{0});
  for (u32 intid = 0; intid < 64; intid += 4) EXPECT_EQ(none.priorities(intid), 0xa0a0a0a0u);
  for (u32 sgi = 0; sgi < kSgiCount; ++sgi) EXPECT_EQ(none.group_of(sgi), Group::irq);
}

TEST(GicRegisters, AnFiqIsOfGroup0AndAboveAllElse) {
  const FiqSgis fiqs(1 << 4);
  EXPECT_TRUE(fiqs.any());
  EXPECT_EQ(fiqs.group_of(4), Group::fiq);
  EXPECT_EQ(fiqs.group_of(3), Group::irq);
  EXPECT_EQ(fiqs.group1(), 0xffff'ffefu);
  EXPECT_EQ(fiqs.priorities(0), 0xa0a0a0a0u);
  EXPECT_EQ(fiqs.priorities(4), 0xa0a0a000u);
  EXPECT_EQ(fiqs.priorities(7), 0xa0a0a000u) << "the register that holds it";
  EXPECT_EQ(FiqSgis(1 << 6).priorities(4), 0xa000a0a0u);
  EXPECT_EQ(fiqs.priorities(36), 0xa0a0a0a0u) << "no SGI";
}

}  // namespace
}  // namespace atl::arch::gic
