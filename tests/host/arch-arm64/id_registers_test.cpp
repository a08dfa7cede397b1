#include "arch-arm64/id_registers.hpp"

#include "tests/host/support.hpp"

namespace atl::arch {
namespace {

/// ID_AA64MMFR0_EL1 as QEMU 7.2's CPU models have it.
constexpr u64 kCortexA53 = 0x1122;
constexpr u64 kCortexA72 = 0x1124;
constexpr u64 kCortexA76 = 0x10'1122;
constexpr u64 kNeoverseN1 = 0x10'1125;
constexpr u64 kMax = 0x323'1020'1126;

TEST(IdRegisters, Case18_CpuModelsGranules) {
  for (u64 mmfr0 : {kCortexA53, kCortexA72}) {
    EXPECT_TRUE(granule_supported(mmfr0, Granule::k4K));
    EXPECT_FALSE(granule_supported(mmfr0, Granule::k16K)) << "TGran16 = 0 means no";
    EXPECT_TRUE(granule_supported(mmfr0, Granule::k64K));
  }
  for (u64 mmfr0 : {kCortexA76, kNeoverseN1, kMax}) {
    for (Granule g : {Granule::k4K, Granule::k16K, Granule::k64K}) {
      EXPECT_TRUE(granule_supported(mmfr0, g)) << std::hex << mmfr0 << " granule " << to_string(g);
    }
  }
}

TEST(IdRegisters, Case18_Gran4WithLpa2IsSupported) {
  EXPECT_TRUE(granule_supported(u64{1} << 28, Granule::k4K)) << "TGran4 = 1 read as unsupported";
  EXPECT_FALSE(granule_supported(u64{0xf} << 28, Granule::k4K));
  EXPECT_FALSE(granule_supported(u64{0xf} << 24, Granule::k64K));
  EXPECT_TRUE(granule_supported(u64{2} << 20, Granule::k16K));
}

TEST(IdRegisters, FieldsThatTheRefusalPrints) {
  EXPECT_STREQ(granule_field_name(Granule::k4K), "TGran4");
  EXPECT_STREQ(granule_field_name(Granule::k16K), "TGran16");
  EXPECT_STREQ(granule_field_name(Granule::k64K), "TGran64");
  EXPECT_EQ(granule_field(0x3123'0000 << 0, Granule::k4K), 3u);
  EXPECT_EQ(granule_field(0x3123'0000, Granule::k64K), 1u);
  EXPECT_EQ(granule_field(0x3123'0000, Granule::k16K), 2u);
}

TEST(IdRegisters, PhysicalRange) {
  EXPECT_EQ(output_address_bits(kCortexA53), 40u);
  EXPECT_EQ(output_address_bits(kCortexA72), 44u);
  EXPECT_EQ(output_address_bits(kNeoverseN1), 48u);
  EXPECT_EQ(output_address_bits(kMax), 48u) << "52 bits need LPA or LPA2";
  EXPECT_EQ(physical_range_bits(physical_range(kMax)), 52u);
  EXPECT_EQ(physical_range_bits(0), 32u);
  EXPECT_EQ(physical_range_bits(15), 56u) << "a value from the future has at least what 7 has";
}

TEST(IdRegisters, Features) {
  EXPECT_TRUE(has_wide_asids(kCortexA72));
  EXPECT_FALSE(has_wide_asids(0));
  EXPECT_FALSE(has_lse(0));
  EXPECT_FALSE(has_lse(u64{1} << 20));
  EXPECT_TRUE(has_lse(u64{2} << 20));
  EXPECT_TRUE(has_lse(u64{3} << 20)) << "LSE128 includes LSE";
  EXPECT_FALSE(has_common_not_private(0));
  EXPECT_TRUE(has_common_not_private(1));
}

}  // namespace
}  // namespace atl::arch
