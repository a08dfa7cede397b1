#include "arch-arm64/tcr.hpp"

#include "tests/host/support.hpp"

namespace atl::arch {
namespace {

using Identity4K = Geometry<Granule::k4K, 48>;
using Identity16K = Geometry<Granule::k16K, 47>;
using Identity64K = Geometry<Granule::k64K, 48>;

constexpr u64 kWideAsids = 0x20;

TEST(Tcr, Case19_GranuleEncodingsOfTheTwoHalvesDiffer) {
  const Tcr t4 = Tcr::make<Identity4K, Identity4K>(0);
  const Tcr t16 = Tcr::make<Identity16K, Identity16K>(0);
  const Tcr t64 = Tcr::make<Identity64K, Identity64K>(0);
  EXPECT_EQ(t4.low_granule_field(), 0b00u);
  EXPECT_EQ(t4.high_granule_field(), 0b10u);
  EXPECT_EQ(t16.low_granule_field(), 0b10u);
  EXPECT_EQ(t16.high_granule_field(), 0b01u);
  EXPECT_EQ(t64.low_granule_field(), 0b01u);
  EXPECT_EQ(t64.high_granule_field(), 0b11u);
}

TEST(Tcr, Case19_OutputSizeIsAtMostFortyEightBits) {
  for (u64 range = 0; range <= 5; ++range) {
    EXPECT_EQ(Tcr(Tcr::make<Identity4K, Identity4K>(range)).output_bits(), physical_range_bits(range));
  }
  EXPECT_EQ((Tcr::make<Identity64K, Identity64K>(6).output_bits()), 48u) << "IPS above 48 bits";
  EXPECT_EQ((Tcr::make<Identity64K, Identity64K>(7).output_bits()), 48u) << "IPS above 48 bits";
}

TEST(Tcr, HalvesHaveTheirOwnSizes) {
  const Tcr tcr = Tcr::make<Identity4K, Geometry<Granule::k4K, 39>>(0);
  EXPECT_EQ(tcr.low_va_bits(), 48u);
  EXPECT_EQ(tcr.high_va_bits(), 39u);
}

TEST(Tcr, WholeRegister) {
  // From the field list of TCR_EL1: IPS 48 | TG1 4K | SH1 ORGN1 IRGN1 | T1SZ 25 | SH0 ORGN0 IRGN0 | T0SZ 16, AS.
  const u64 expected = u64{1} << 36 | u64{5} << 32 | u64{0b10} << 30 | u64{0b11'01'01} << 24 | u64{25} << 16 |
                       u64{0b11'01'01} << 8 | 16;
  EXPECT_EQ((Tcr::make<Identity4K, Geometry<Granule::k4K, 39>>(kWideAsids | 5).raw()), expected);
  EXPECT_TRUE((Tcr::make<Identity4K, Identity4K>(kWideAsids).wide_asids()));
  EXPECT_FALSE((Tcr::make<Identity4K, Identity4K>(0).wide_asids()));
}

TEST(Tcr, LeavesDisablesAndAsidSelectorZero) {
  constexpr u64 kEpd0 = u64{1} << 7, kA1 = u64{1} << 22, kEpd1 = u64{1} << 23;
  for (u64 raw :
       {Tcr::make<Identity4K, Identity4K>(0x25).raw(), Tcr::make<Identity16K, Identity16K>(0x25).raw(),
        Tcr::make<Identity64K, Identity64K>(0x25).raw()}) {
    EXPECT_EQ(raw & (kEpd0 | kA1 | kEpd1), 0u);
    EXPECT_EQ(raw >> 37, 0u) << "TBI, HA, HD, HPD and DS stay off";
  }
}

TEST(Tcr, KernelValueIsOfTheBuiltGeometries) {
  const Tcr tcr(kernel_tcr(0x25));
  EXPECT_EQ(tcr.low_va_bits(), IdentityGeometry::kVaBits);
  EXPECT_EQ(tcr.high_va_bits(), KernelGeometry::kVaBits);
}

}  // namespace
}  // namespace atl::arch
