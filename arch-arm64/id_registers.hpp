// What the ID registers say, as far as Atoll decides by it. Fields are four bits wide and
// grow: a larger value has what a smaller one has. "Signed" fields use 0xF for "not at all".
#pragma once

#include <algorithm>

#include "arch-arm64/geometry.hpp"
#include "lib/fault.hpp"
#include "lib/types.hpp"

namespace atl::arch {

/// The field with its lowest bit at `shift`: 0..15.
constexpr unsigned id_field(u64 id_register, unsigned shift) {
  return static_cast<unsigned>(id_register >> shift & 0xf);
}

/// The stage 1 granule fields of ID_AA64MMFR0_EL1, as messages name them.
constexpr const char* granule_field_name(Granule g) {
  return g == Granule::k4K ? "TGran4" : g == Granule::k16K ? "TGran16" : "TGran64";
}
constexpr unsigned granule_field(u64 mmfr0, Granule g) {
  return id_field(mmfr0, g == Granule::k4K ? 28 : g == Granule::k16K ? 20 : 24);
}

/// Whether stage 1 translation has this granule. TGran4 and TGran64 are signed, 0xF is "no" and 0 is "yes"
/// (1: also with 52 bits); TGran16 is not, and 0 is "no".
constexpr bool granule_supported(u64 mmfr0, Granule g) {
  const unsigned field = granule_field(mmfr0, g);
  if (g == Granule::k16K) return field != 0;
  if constexpr (kFault == Fault::granule_field_misread) return field == 0;
  return field < 8;
}

/// ID_AA64MMFR0_EL1.PARange.
constexpr unsigned physical_range(u64 mmfr0) { return id_field(mmfr0, 0); }
/// Address bits that a PARange or TCR_EL1.IPS value stands for: 32 to 56.
constexpr unsigned physical_range_bits(unsigned range) {
  constexpr unsigned kBits[] = {32, 36, 40, 42, 44, 48, 52, 56};
  return kBits[std::min(range, 7u)];
}
/// The PARange of 48 bits: the most that descriptors address without LPA or LPA2.
inline constexpr unsigned kPhysicalRange48 = 5;

/// The output addresses that this kernel can map on this CPU have so many bits, at most 48.
constexpr unsigned output_address_bits(u64 mmfr0) {
  return physical_range_bits(std::min(physical_range(mmfr0), kPhysicalRange48));
}

/// ID_AA64MMFR0_EL1.ASIDBits: 16-bit ASIDs, else 8-bit ones.
constexpr bool has_wide_asids(u64 mmfr0) { return id_field(mmfr0, 4) >= 2; }

/// FEAT_LSE: ID_AA64ISAR0_EL1.Atomic, where 1 is reserved.
constexpr bool has_lse(u64 isar0) { return id_field(isar0, 20) >= 2; }

/// FEAT_TTCNP: ID_AA64MMFR2_EL1.CnP.
constexpr bool has_common_not_private(u64 mmfr2) { return id_field(mmfr2, 0) != 0; }

}  // namespace atl::arch
