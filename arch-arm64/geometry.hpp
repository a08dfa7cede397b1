// The shape of a translation table for one granule and VA size (Arm ARM D8.2): which VA bits
// each level resolves, how many entries the root has, where blocks and contiguous runs exist.
#pragma once

#include "lib/address.hpp"
#include "lib/config.hpp"

namespace atl::arch {

enum class Granule : u8 { k4K, k16K, k64K };

constexpr unsigned page_shift(Granule g) { return g == Granule::k4K ? 12 : g == Granule::k16K ? 14 : 16; }
constexpr const char* to_string(Granule g) {
  return g == Granule::k4K ? "4K" : g == Granule::k16K ? "16K" : "64K";
}

/// The last level: its entries map pages. The root's level is `kRootLevel` (-1 with LPA2).
inline constexpr int kPageLevel = 3;

template <Granule G, unsigned VaBits>
struct Geometry {
  static constexpr Granule kGranule = G;
  static constexpr unsigned kVaBits = VaBits;
  static constexpr unsigned kPageShift = page_shift(G);
  static constexpr u64 kPageSize = u64{1} << kPageShift;
  /// A full table is one page of 8-byte descriptors, so it resolves this many VA bits.
  static constexpr unsigned kBitsPerLevel = kPageShift - 3;

  static constexpr int kLevels = static_cast<int>((VaBits - kPageShift + kBitsPerLevel - 1) / kBitsPerLevel);
  static constexpr int kRootLevel = kPageLevel + 1 - kLevels;

  /// An entry at `level` covers 2^shift(level) bytes.
  static constexpr unsigned shift(int level) {
    return kPageShift + static_cast<unsigned>(kPageLevel - level) * kBitsPerLevel;
  }
  static constexpr u64 entry_bytes(int level) { return u64{1} << shift(level); }
  static constexpr usize kRootEntries = usize{1} << (VaBits - shift(kRootLevel));
  static constexpr usize entries(int level) {
    return level == kRootLevel ? kRootEntries : usize{1} << kBitsPerLevel;
  }
  /// Bytes of a root table, padded to the 64 that TTBR alignment needs (Arm ARM D8.2.9).
  static constexpr u64 kRootBytes = kRootEntries * 8 < 64 ? 64 : kRootEntries * 8;
  static constexpr u64 table_bytes(int level) { return level == kRootLevel ? kRootBytes : kPageSize; }
  static constexpr usize index(VirtAddr va, int level) {
    return static_cast<usize>(va.value() >> shift(level)) & (entries(level) - 1);
  }

  /// Levels whose entries may be blocks: 4K has 1 GiB and 2 MiB, 16K 32 MiB, 64K 512 MiB.
  static constexpr bool has_blocks(int level) { return level == 2 || (G == Granule::k4K && level == 1); }
  static constexpr bool may_be_leaf(int level) { return level == kPageLevel || has_blocks(level); }
  /// How many adjacent entries form a contiguous run (Arm ARM D8.7.1); 1 where there is none.
  static constexpr usize contiguous_entries(int level) {
    if (!may_be_leaf(level)) return 1;
    switch (G) {
      case Granule::k4K: return 16;
      case Granule::k16K: return level == kPageLevel ? 128 : 32;
      case Granule::k64K: return 32;
    }
    return 1;
  }

  /// The kernel half that TTBR1 translates is [kKernelStart, 2^64).
  static constexpr u64 kKernelBytes = u64{1} << VaBits;
  static constexpr VirtAddr kKernelStart = VirtAddr(~u64{0} << VaBits);
};

constexpr Granule granule_of_kib(unsigned kib) {
  return kib == 4 ? Granule::k4K : kib == 16 ? Granule::k16K : Granule::k64K;
}

/// The geometry this image was built for.
using KernelGeometry = Geometry<granule_of_kib(kConfigPageKib), kConfigVaBits>;
/// The identity map's geometry does not depend on VA=: the widest without LPA2 that has a
/// one-page root at this granule.
template <Granule G>
using IdentityGeometryOf = Geometry<G, G == Granule::k16K ? 47 : 48>;
using IdentityGeometry = IdentityGeometryOf<granule_of_kib(kConfigPageKib)>;

inline constexpr u64 kPageSize = KernelGeometry::kPageSize;
inline constexpr unsigned kPageShift = KernelGeometry::kPageShift;

}  // namespace atl::arch
