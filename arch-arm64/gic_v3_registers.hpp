// GICv3 registers as Atoll uses them (Arm IHI 0069): offsets, fields, and the walk over redistributors.
#pragma once

#include <span>

#include "arch-arm64/gic_registers.hpp"
#include "arch-arm64/mpidr.hpp"
#include "lib/address.hpp"
#include "lib/fault.hpp"

namespace atl::arch::gic::v3 {

/// ICC_IAR1_EL1.INTID.
inline constexpr u32 kIntidMask = 0xff'ffff;

/// Offsets in the distributor frame; the per-interrupt arrays are in the redistributor's SGI frame too.
namespace distributor {
inline constexpr u64 kControl = 0x0000;
inline constexpr u64 kType = 0x0004;
inline constexpr u64 kPeripheralId2 = 0xffe8;
/// 64 bits for each SPI: the affinity it goes to, laid out as in MPIDR_EL1.
constexpr u64 route_register(u32 intid) { return 0x6000 + u64{8} * intid; }

/// GICD_CTLR. The positions are the same with one Security state and in the Non-secure view of two, but for bit 6,
/// which the latter does not have, and bit 0, which there enables Group 1 without affinity routing: not written.
inline constexpr u32 kEnableGroup0 = 1 << 0;
inline constexpr u32 kEnableGroup1 = 1 << 1;
inline constexpr u32 kAffinityRouting = 1 << 4;
/// DS: there is one Security state, and Group 0 is ours.
inline constexpr u32 kOneSecurityState = 1 << 6;
inline constexpr u32 kRegisterWritePending = u32{1} << 31;

/// GICD_PIDR2.ArchRev.
constexpr u32 architecture(u32 peripheral_id) { return peripheral_id >> 4 & 0xf; }
}  // namespace distributor

/// Offsets in a redistributor's first frame; its second holds SGIs and PPIs.
namespace redistributor {
inline constexpr u64 kFrameBytes = 64_KiB;
inline constexpr u64 kSgiFrame = kFrameBytes;
inline constexpr u64 kControl = 0x0000;
inline constexpr u64 kType = 0x0008;
inline constexpr u64 kWaker = 0x0014;

inline constexpr u32 kRegisterWritePending = 1 << 3;
inline constexpr u32 kProcessorSleep = 1 << 1;
inline constexpr u32 kChildrenAsleep = 1 << 2;
}  // namespace redistributor

/// GICR_TYPER.
class RedistributorType {
 public:
  constexpr explicit RedistributorType(u64 raw) : raw_(raw) {}

  /// Of the CPU it belongs to.
  constexpr Affinity affinity() const { return Affinity::of_redistributor(raw_); }
  /// It is the last one in its region.
  constexpr bool is_last() const { return (raw_ >> 4 & 1) != 0; }
  /// GICv4 (VLPIS) adds two more frames.
  constexpr u64 bytes() const { return (raw_ >> 1 & 1) != 0 ? 256_KiB : 128_KiB; }

 private:
  u64 raw_;
};

/// Calls `visit(base, type)` for every redistributor, region by region; `read_type(base)` reads GICR_TYPER.
/// `stride` bytes lie between neighbours; 0, or what cannot be a stride: as much as the type says.
/// Never reads past a region, whatever its frames say.
template <class ReadType, class Visit>
constexpr void for_each_redistributor(std::span<const VirtRange> regions, u64 stride, ReadType read_type,
                                      Visit visit) {
  const bool usable =
      is_aligned(stride, redistributor::kFrameBytes) && stride >= 2 * redistributor::kFrameBytes;
  for (const VirtRange& region : regions) {
    VirtAddr base = region.start;
    while (region.contains(VirtRange{base, 2 * redistributor::kFrameBytes})) {
      const RedistributorType type(read_type(base));
      visit(base, type);
      if (type.is_last()) break;
      base += usable ? stride : type.bytes();
    }
    if constexpr (kFault == Fault::second_redistributor) break;
  }
}

}  // namespace atl::arch::gic::v3
