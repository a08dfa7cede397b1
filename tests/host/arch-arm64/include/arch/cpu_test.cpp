#include "arch/cpu.hpp"

#include <gtest/gtest.h>

namespace atl::arch {
namespace {

constexpr CpuFeatures kBoot{
    .lse = true, .common_not_private = true, .multithreaded = true, .physical_bits = 44};

TEST(CpuFeatures, EqualOrMoreSuffices) {
  EXPECT_TRUE(kBoot.suffice_beside(kBoot));
  const CpuFeatures plain{.physical_bits = 40};
  EXPECT_TRUE(kBoot.suffice_beside(CpuFeatures{.multithreaded = true, .physical_bits = 40}));
  EXPECT_TRUE(plain.suffice_beside(plain));
}

TEST(CpuFeatures, NothingThatTheBootCpuHasMayBeMissing) {
  CpuFeatures cpu = kBoot;
  cpu.lse = false;
  EXPECT_FALSE(cpu.suffice_beside(kBoot)) << "patched code is not for it";
  cpu = kBoot;
  cpu.common_not_private = false;
  EXPECT_FALSE(cpu.suffice_beside(kBoot)) << "its threads may share entries";
  cpu = kBoot;
  cpu.physical_bits = 40;
  EXPECT_FALSE(cpu.suffice_beside(kBoot)) << "it cannot address all memory";
}

TEST(CpuFeatures, ThreadsAreTheBootCpusToDecide) {
  CpuFeatures boot = kBoot;
  boot.multithreaded = false;
  EXPECT_FALSE(kBoot.suffice_beside(boot));
  EXPECT_TRUE(boot.suffice_beside(kBoot));
}

}  // namespace
}  // namespace atl::arch
