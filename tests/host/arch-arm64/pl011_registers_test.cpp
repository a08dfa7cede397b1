#include "arch-arm64/pl011_registers.hpp"

#include <gtest/gtest.h>

namespace atl::arch {
namespace {

constexpr Pl011Identification kQemu{0x11, 0x10, 0x14, 0x00, 0x0d, 0xf0, 0x05, 0xb1};

TEST(Pl011Registers, AnyRevisionIdentifies) {
  EXPECT_TRUE(is_pl011(kQemu));
  auto r1p5 = kQemu;
  r1p5[2] = 0x34;
  EXPECT_TRUE(is_pl011(r1p5));
}

TEST(Pl011Registers, NothingElseDoes) {
  const auto refused = [](Pl011Identification id) {
    EXPECT_FALSE(is_pl011(id)) << "other registers pass for a PL011's";
  };
  refused({});
  refused({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
  refused({0x31, 0x10, 0x04, 0x00, 0x0d, 0xf0, 0x05, 0xb1});  // PL031, QEMU's clock
  refused({0x61, 0x10, 0x04, 0x00, 0x0d, 0xf0, 0x05, 0xb1});  // PL061, QEMU's GPIO
  for (usize i = 0; i < kQemu.size(); ++i) {
    auto other = kQemu;
    other[i] ^= 0x02;
    if (i != 3) refused(other);  // UARTPeriphID3 is a configuration
  }
}

TEST(Pl011Registers, FlagsThatCannotBeAUartsAreNot) {
  for (const u32 flags : {0x90u, 0x91u, 0x197u, 0x18u, 0x28u, 0x20u, 0xc0u, 0x80u})
    EXPECT_TRUE(are_plausible_flags(flags)) << flags;
  for (const u32 flags : {0u, ~0u, 0x10u, 0xb0u, 0xd0u, 0x290u, 0x10090u})
    EXPECT_FALSE(are_plausible_flags(flags)) << flags;
}

}  // namespace
}  // namespace atl::arch
