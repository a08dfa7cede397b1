#include "arch-arm64/tlbi.hpp"

#include "tests/host/support.hpp"

namespace atl::arch {
namespace {

template <class G>
class TlbiOperand : public ::testing::Test {};
using Geometries =
    ::testing::Types<Geometry<Granule::k4K, 48>, Geometry<Granule::k16K, 47>, Geometry<Granule::k64K, 48>>;
TYPED_TEST_SUITE(TlbiOperand, Geometries);

TYPED_TEST(TlbiOperand, Case20_ShiftIsTwelveAtEveryGranule) {
  const VirtAddr va(0xffff'8012'3456'0000);
  EXPECT_EQ(tlbi_operand<TypeParam>(va), 0xff8'0123'4560u)
      << "TLBI operand is not VA >> 12 at " << to_string(TypeParam::kGranule);
}

TYPED_TEST(TlbiOperand, Case20_NeighbouringPagesDiffer) {
  const VirtAddr va(0xffff'8000'0000'0000);
  EXPECT_EQ(tlbi_operand<TypeParam>(va + TypeParam::kPageSize) - tlbi_operand<TypeParam>(va),
            TypeParam::kPageSize / 4096)
      << "TLBI operands of neighbouring pages are not a page apart at " << to_string(TypeParam::kGranule);
}

TYPED_TEST(TlbiOperand, AsidStandsOnTopAndTheHintIsZero) {
  EXPECT_EQ(tlbi_operand<TypeParam>(VirtAddr(0), 0xabcd), u64{0xabcd} << 48);
  EXPECT_EQ(tlbi_operand<TypeParam>(VirtAddr(~u64{0}), 0) >> 44, 0u);
}

}  // namespace
}  // namespace atl::arch
