// TCR_EL1 as a typed value: the shapes of the two halves of the address space.
#pragma once

#include <algorithm>

#include "arch-arm64/geometry.hpp"
#include "arch-arm64/id_registers.hpp"
#include "lib/fault.hpp"
#include "lib/types.hpp"

namespace atl::arch {

/// TG0 and TG1 number the granules differently.
constexpr u64 tg0(Granule g) { return g == Granule::k4K ? 0b00 : g == Granule::k64K ? 0b01 : 0b10; }
constexpr u64 tg1(Granule g) { return g == Granule::k16K ? 0b01 : g == Granule::k4K ? 0b10 : 0b11; }

class Tcr {
 public:
  constexpr explicit Tcr(u64 raw) : raw_(raw) {}

  /// Both halves on, walks inner shareable and write-back cacheable, ASIDs from TTBR0 (A1 = 0) and as wide
  /// as the CPU has them, no tagged addresses, hardware sets neither access flag nor dirty state.
  template <class LowHalf, class HighHalf>
  static constexpr Tcr make(u64 mmfr0) {
    return Tcr(half(LowHalf::kVaBits, tg0(LowHalf::kGranule) << kTg0Shift) |
               half(HighHalf::kVaBits, tg1(HighHalf::kGranule) << (kTg1Shift - kHighHalf)) << kHighHalf |
               u64{intermediate_size(mmfr0)} << kIpsShift | (has_wide_asids(mmfr0) ? kWideAsids : 0));
  }

  constexpr u64 raw() const { return raw_; }
  constexpr unsigned low_va_bits() const { return 64 - field(0, 6); }
  constexpr unsigned high_va_bits() const { return 64 - field(kHighHalf, 6); }
  constexpr unsigned low_granule_field() const { return field(kTg0Shift, 2); }
  constexpr unsigned high_granule_field() const { return field(kTg1Shift, 2); }
  constexpr unsigned output_bits() const { return physical_range_bits(field(kIpsShift, 3)); }
  constexpr bool wide_asids() const { return (raw_ & kWideAsids) != 0; }

  friend constexpr bool operator==(Tcr, Tcr) = default;

 private:
  // Each half has its fields at the same places, 16 bits apart. Between T0SZ and IRGN0 stands EPD0; what
  // stands there for the upper half is A1 and EPD1. All three are zero.
  static constexpr unsigned kHighHalf = 16;
  static constexpr u64 kWalksWriteBackInner = u64{0b01} << 8;
  static constexpr u64 kWalksWriteBackOuter = u64{0b01} << 10;
  static constexpr u64 kWalksInnerShareable = u64{0b11} << 12;
  static constexpr unsigned kTg0Shift = 14;
  static constexpr unsigned kTg1Shift = 30;
  static constexpr unsigned kIpsShift = 32;
  static constexpr u64 kWideAsids = u64{1} << 36;

  static constexpr u64 half(unsigned va_bits, u64 granule) {
    return u64{64 - va_bits} | kWalksWriteBackInner | kWalksWriteBackOuter | kWalksInnerShareable | granule;
  }
  /// Descriptors hold 48 address bits here, and a larger IPS than PARange is reserved.
  static constexpr unsigned intermediate_size(u64 mmfr0) {
    const unsigned range = physical_range(mmfr0);
    return kFault == Fault::physical_range_unclamped ? range & 7 : std::min(range, kPhysicalRange48);
  }
  constexpr unsigned field(unsigned shift, unsigned width) const {
    return static_cast<unsigned>(raw_ >> shift & ((u64{1} << width) - 1));
  }

  u64 raw_;
};

/// TCR_EL1 of every CPU of this image, from that CPU's ID_AA64MMFR0_EL1.
constexpr u64 kernel_tcr(u64 mmfr0) { return Tcr::make<IdentityGeometry, KernelGeometry>(mmfr0).raw(); }

}  // namespace atl::arch
