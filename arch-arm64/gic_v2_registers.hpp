// GICv2 registers as Atoll uses them (Arm IHI 0048): offsets, fields, and which CPU has which interface.
#pragma once

#include <array>
#include <atomic>
#include <bit>

#include "arch-arm64/gic_registers.hpp"
#include "lib/config.hpp"
#include "lib/cpu_set.hpp"
#include "lib/result.hpp"

namespace atl::arch::gic::v2 {

/// Offsets in the distributor frame. Registers of INTIDs 0 to 31 are banked: each CPU sees its own.
namespace distributor {
inline constexpr u64 kControl = 0x000;
inline constexpr u64 kType = 0x004;
/// One byte for each INTID: the interfaces it goes to, a bit for each.
constexpr u64 target_register(u32 intid) { return 0x800 + u64{intid}; }
inline constexpr u64 kSendSgi = 0xf00;
/// One byte for each SGI: from which interfaces it is pending. Their bits in `BitArray::clear_pending` do nothing.
inline constexpr u64 kClearPendingSgis = 0xf10;

/// GICD_CTLR. With groups, bit 0 enables Group 0 and bit 1 Group 1; without, and in the Non-secure view, bit 0 is all.
inline constexpr u32 kEnable = 1 << 0;
inline constexpr u32 kEnableGroup1 = 1 << 1;
}  // namespace distributor

/// Offsets in the CPU interface frame. What lies beyond its first 4 KiB (GICC_DIR) is for EOImode 1.
namespace cpu_interface {
inline constexpr u64 kControl = 0x00;
inline constexpr u64 kPriorityMask = 0x04;
inline constexpr u64 kBinaryPoint = 0x08;
inline constexpr u64 kAcknowledge = 0x0c;
inline constexpr u64 kEnd = 0x10;
inline constexpr u64 kHighestPending = 0x18;
inline constexpr u64 kAliasedBinaryPoint = 0x1c;
inline constexpr u64 kActivePriorities = 0xd0;  ///< four registers; of Group 0 where there are groups
inline constexpr u64 kActivePrioritiesGroup1 = 0xe0;
inline constexpr u64 kIdentification = 0xfc;

/// GICC_CTLR, which as GICD_CTLR has fewer bits in the Non-secure view.
inline constexpr u32 kEnable = 1 << 0;
inline constexpr u32 kEnableGroup1 = 1 << 1;
/// GICC_IAR and GICC_EOIR serve both groups. Their aliases for Group 1 would do without, but not every
/// implementation has them (docs/decisions/0016-stop-by-fiq.md).
inline constexpr u32 kAcknowledgeBoth = 1 << 2;
inline constexpr u32 kGroup0IsFiq = 1 << 3;
/// How the CPU is wired while its interface is off: firmware's choice, and it stays.
inline constexpr u32 kBypass = 0xf << 5;

/// GICC_IIDR.Architecture_version.
constexpr u32 architecture(u32 identification) { return identification >> 16 & 0xf; }
}  // namespace cpu_interface

/// GICC_IAR and GICC_HPPIR. An SGI has its sender's interface in bits 12:10.
class AcknowledgedInterrupt {
 public:
  constexpr explicit AcknowledgedInterrupt(u32 raw) : raw_(raw) {}

  constexpr u32 intid() const { return raw_ & kIntidMask; }
  /// For GICC_EOIR. The sender's number belongs to it: from each CPU one and the same SGI can be active by itself.
  constexpr u32 end() const { return kFault == Fault::sgi_ended_without_sender ? intid() : raw_; }

 private:
  static constexpr u32 kIntidMask = 0x3ff;

  u32 raw_;
};

/// Values for GICD_SGIR. `targets`: a bit for each interface.
constexpr u32 sgi_to(u8 targets, u32 sgi) { return u32{targets} << 16 | sgi; }
constexpr u32 sgi_to_all_others(u32 sgi) { return u32{1} << 24 | sgi; }

/// Interfaces have numbers of their own, at most eight, and only the CPU itself can tell which one it has: its banked
/// target registers name it. Any context; each CPU learns its own, others read.
class CpuInterfaces {
 public:
  /// The interface, as a bit, that the calling CPU's own `target_register(0)`, read as 32 bits, names. A GIC made for
  /// a single CPU has no target registers; they read as zero.
  static constexpr u8 named_by(u32 targets) {
    const u32 named = targets | targets >> 8 | targets >> 16 | targets >> 24;
    return (named & 0xff) != 0 ? static_cast<u8>(named) : u8{1};
  }

  /// Once for each CPU. `not_found`: the register names several, or one that is another CPU's, as it would for the
  /// ninth CPU.
  Result<> learn(unsigned cpu, u32 targets) {
    const u8 own = named_by(targets);
    if (!std::has_single_bit(own)) return fail(Error::not_found);
    if ((taken_.fetch_or(own, std::memory_order_relaxed) & own) != 0) return fail(Error::not_found);
    bits_[cpu].store(own, std::memory_order_relaxed);
    return {};
  }

  /// Of those in `cpus` that have learnt theirs.
  u8 of(const CpuSet& cpus) const {
    u8 targets = 0;
    cpus.for_each([&](unsigned cpu) { targets |= bits_[cpu].load(std::memory_order_relaxed); });
    return targets;
  }

 private:
  std::array<std::atomic<u8>, kMaxCpus> bits_{};  ///< by logical number; 0: not known
  std::atomic<u8> taken_ = 0;
};

}  // namespace atl::arch::gic::v2
