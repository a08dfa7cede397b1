// What the distributors of GICv2 (Arm IHI 0048) and GICv3 (IHI 0069) have in common: kinds of interrupts, groups,
// and the registers that exist once for each interrupt. Each version's own are in gic_v2_registers.hpp and
// gic_v3_registers.hpp.
#pragma once

#include "lib/fault.hpp"
#include "lib/types.hpp"

namespace atl::arch::gic {

/// INTIDs by kind.
inline constexpr u32 kSgiCount = 16;
inline constexpr u32 kFirstSpi = 32;
/// 1020 .. 1023 are not interrupts; 1023 says that nothing is pending.
inline constexpr u32 kFirstSpecial = 1020;
inline constexpr u32 kNothingPending = 1023;

/// GICD_TYPER.ITLinesNumber: the INTIDs it implements, in 32s, less one.
constexpr u32 interrupt_count(u32 type) {
  const u32 count = 32 * ((type & 0x1f) + 1);
  return count < kFirstSpecial ? count : kFirstSpecial;
}

/// Arrays of one bit for each INTID, 32 to a register.
enum class BitArray : u64 {
  group = 0x0080,
  set_enable = 0x0100,
  clear_enable = 0x0180,
  clear_pending = 0x0280,
  clear_active = 0x0380
};
constexpr u64 register_of(BitArray array, u32 intid) { return static_cast<u64>(array) + intid / 32 * 4; }
constexpr u32 bit_of(u32 intid) { return u32{1} << (intid % 32); }
/// One byte for each INTID, four to a register.
constexpr u64 priority_register(u32 intid) { return 0x0400 + intid / 4 * 4; }

/// Which exception an interrupt raises. Where a GIC has one Security state, Group 0 raises FIQs and Group 1 IRQs;
/// where it has two, Group 0 is the Secure world's and there is Group 1 alone.
enum class Group : u8 { fiq = 0, irq = 1 };

/// The SGIs of Group 0, a bit for each: those that a CPU takes with IRQs masked.
class FiqSgis {
 public:
  constexpr FiqSgis() = default;
  constexpr explicit FiqSgis(u32 bits) : bits_(bits) {}

  constexpr bool any() const { return bits_ != 0; }
  constexpr Group group_of(u32 sgi) const { return (bits_ >> sgi & 1) != 0 ? Group::fiq : Group::irq; }
  /// For the group register of INTIDs 0 to 31: a 1 for each that is of Group 1.
  constexpr u32 group1() const { return ~bits_; }

  /// For `priority_register(intid)`: the four priorities in it. Ordinary interrupts have one and the same, so none of
  /// them interrupts the handling of another. FIQs are above them: the controller signals one whatever is handled.
  constexpr u32 priorities(u32 intid) const {
    u32 value = 0;
    for (u32 i = 0; i < 4; ++i) {
      const bool first = intid / 4 * 4 + i < kSgiCount && group_of(intid / 4 * 4 + i) == Group::fiq;
      value |= (first ? kHighest : kOrdinary) << (8 * i);
    }
    return value;
  }

 private:
  /// Multiples of 16, since four bits of a priority are all that must exist. Lower is more urgent.
  static constexpr u32 kHighest = 0x00;
  static constexpr u32 kOrdinary = 0xa0;

  u32 bits_ = 0;
};

}  // namespace atl::arch::gic
