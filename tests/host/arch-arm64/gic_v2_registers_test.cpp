#include "arch-arm64/gic_v2_registers.hpp"

#include <gtest/gtest.h>

namespace atl::arch::gic::v2 {
namespace {

TEST(GicV2Registers, OffsetsAndFields) {
  EXPECT_EQ(distributor::target_register(0), 0x800u);
  EXPECT_EQ(distributor::target_register(33), 0x821u) << "a byte each";
  EXPECT_EQ(cpu_interface::architecture(0x0202'143b), 2u) << "a GIC-400";
  EXPECT_EQ(cpu_interface::architecture(0x0001'043b), 1u);
}

TEST(GicV2Registers, Case4_AnSgiIsEndedWithItsSender) {
  const AcknowledgedInterrupt from_cpu5(5u << 10 | 3);
  EXPECT_EQ(from_cpu5.intid(), 3u) << "the sender is no part of the INTID";
  EXPECT_EQ(from_cpu5.end(), 5u << 10 | 3) << "the sender is missing in GICC_EOIR";
  EXPECT_EQ(AcknowledgedInterrupt(0x3ff).intid(), kNothingPending);
  EXPECT_EQ(AcknowledgedInterrupt(7u << 10 | 15).intid(), 15u);
}

TEST(GicV2Registers, SgiRequests) {
  EXPECT_EQ(sgi_to(0b1000'0001, 4), 0x0081'0004u);
  EXPECT_EQ(sgi_to(0, 15), 0xfu) << "nobody";
  EXPECT_EQ(sgi_to_all_others(4), 0x0100'0004u);
}

TEST(GicV2Registers, InterfaceByTheBankedTargetRegister) {
  EXPECT_EQ(CpuInterfaces::named_by(0x0404'0404), 4u);
  EXPECT_EQ(CpuInterfaces::named_by(0x80), 0x80u);
  EXPECT_EQ(CpuInterfaces::named_by(0), 1u) << "a GIC made for one CPU";
}

TEST(GicV2Registers, TargetsAreInterfacesNotCpuNumbers) {
  CpuInterfaces interfaces;
  // The boot CPU is not the one with the first interface.
  ASSERT_TRUE(interfaces.learn(0, 0x0808'0808));
  ASSERT_TRUE(interfaces.learn(1, 0x0101'0101));
  EXPECT_EQ(interfaces.of(CpuSet::of(0)), 8u);
  EXPECT_EQ(interfaces.of(CpuSet::of(1)), 1u);
  EXPECT_EQ(interfaces.of(CpuSet::first(2)), 9u);
  EXPECT_EQ(interfaces.of(CpuSet::first(3)), 9u) << "CPU 2 has not come yet";
  EXPECT_EQ(interfaces.of(CpuSet()), 0u);
}

TEST(GicV2Registers, EightCpusAndNoMore) {
  CpuInterfaces interfaces;
  for (unsigned cpu = 0; cpu < 8; ++cpu) ASSERT_TRUE(interfaces.learn(cpu, u32{1} << cpu));
  EXPECT_EQ(interfaces.of(CpuSet::first(8)), 0xffu);
  for (u32 targets : {0x0101'0101u, 0x8080'8080u, 0u}) {
    EXPECT_EQ(interfaces.learn(8, targets).error(), Error::not_found) << "the ninth shares another one's";
  }
  EXPECT_EQ(interfaces.of(CpuSet::of(8)), 0u);
}

TEST(GicV2Registers, AnInterfaceIsOneBit) {
  CpuInterfaces interfaces;
  EXPECT_EQ(interfaces.learn(0, 0x0201'0201).error(), Error::not_found);
  ASSERT_TRUE(interfaces.learn(0, 0x0202'0202));
}

}  // namespace
}  // namespace atl::arch::gic::v2
