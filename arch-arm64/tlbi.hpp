// The register operand of TLBI instructions by virtual address (Arm ARM C5.5).
#pragma once

#include "arch-arm64/geometry.hpp"
#include "lib/address.hpp"
#include "lib/fault.hpp"

namespace atl::arch {

/// Bits 43:0 are VA bits 55:12 at every granule: with larger pages the lowest of them are ignored, not
/// shifted out. Bits 47:44, the level hint, are 0 (none). The ASID does not matter to the `…aa…` forms.
template <class G = KernelGeometry>
constexpr u64 tlbi_operand(VirtAddr va, u16 asid = 0) {
  constexpr unsigned kShift = kFault == Fault::tlbi_shift_by_page ? G::kPageShift : 12;
  constexpr u64 kVaField = (u64{1} << 44) - 1;
  return u64{asid} << 48 | (va.value() >> kShift & kVaField);
}

}  // namespace atl::arch
