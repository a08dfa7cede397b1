// One translation table descriptor as a typed value (Arm ARM D8.3). No other file knows its bits.
#pragma once

#include "arch-arm64/geometry.hpp"
#include "lib/address.hpp"

namespace atl::arch {

/// Indexes into MAIR_EL1, whose value is `kMairValue`.
enum class MemoryType : u8 { normal = 0, device = 1, normal_uncached = 2 };

/// Attr0 normal write-back read/write-allocate, Attr1 Device-nGnRE, Attr2 normal non-cacheable.
inline constexpr u64 kMairValue = 0xff | (0x04 << 8) | (0x44 << 16);

/// What a leaf allows. Kernel mappings are inner shareable, accessed, and never EL0-executable.
struct PageAttributes {
  MemoryType type = MemoryType::normal;
  bool writable = false;
  bool executable = false;
  /// Not-global entries are tagged with the ASID (later: KPTI, ASID colouring, user pages).
  bool global = true;

  friend constexpr bool operator==(const PageAttributes&, const PageAttributes&) = default;
};

inline constexpr PageAttributes kKernelText{.executable = true};
inline constexpr PageAttributes kKernelReadOnly{};
inline constexpr PageAttributes kKernelData{.writable = true};
inline constexpr PageAttributes kKernelDevice{.type = MemoryType::device, .writable = true};

class Descriptor {
 public:
  constexpr Descriptor() = default;
  constexpr explicit Descriptor(u64 raw) : raw_(raw) {}
  constexpr u64 raw() const { return raw_; }

  static constexpr Descriptor table(PhysAddr pa) { return Descriptor(pa.value() | kValid | kTableOrPage); }
  /// A page at `kPageLevel`, a block above it. `pa` is below 2^48 and aligned to what the entry covers.
  static constexpr Descriptor leaf(int level, PhysAddr pa, const PageAttributes& a, bool contiguous = false) {
    return Descriptor(pa.value() | kValid | (level == kPageLevel ? kTableOrPage : 0) | kAccessed |
                      kInnerShareable | (static_cast<u64>(a.type) << kTypeShift) |
                      (a.writable ? 0 : kReadOnly) | (a.global ? 0 : kNotGlobal) | kUserExecuteNever |
                      (a.executable ? 0 : kPrivilegedExecuteNever) | (contiguous ? kContiguous : 0));
  }

  constexpr bool is_valid() const { return (raw_ & kValid) != 0; }
  constexpr bool is_table(int level) const {
    return level != kPageLevel && (raw_ & (kValid | kTableOrPage)) == (kValid | kTableOrPage);
  }
  constexpr bool is_leaf(int level) const {
    return is_valid() && (level == kPageLevel) == ((raw_ & kTableOrPage) != 0);
  }
  constexpr bool is_contiguous() const { return (raw_ & kContiguous) != 0; }
  /// The next table or the output address. 48 bits; LPA and LPA2 move the upper ones.
  constexpr PhysAddr address() const { return PhysAddr(raw_ & kAddressMask); }
  constexpr PageAttributes attributes() const {
    return {.type = static_cast<MemoryType>((raw_ >> kTypeShift) & 7),
            .writable = (raw_ & kReadOnly) == 0,
            .executable = (raw_ & kPrivilegedExecuteNever) == 0,
            .global = (raw_ & kNotGlobal) == 0};
  }
  constexpr Descriptor with_contiguous(bool on) const {
    return Descriptor(on ? raw_ | kContiguous : raw_ & ~kContiguous);
  }

  /// Whether going from `*this` to `next` in place needs break-before-make (Arm ARM D8.14.1):
  /// valid to valid with another address, kind, memory type or contiguous bit. Permissions alone do not.
  constexpr bool needs_break_before(Descriptor next) const {
    return is_valid() && next.is_valid() && ((raw_ ^ next.raw_) & ~kPermissionBits) != 0;
  }

  friend constexpr bool operator==(Descriptor, Descriptor) = default;

 private:
  static constexpr u64 kValid = u64{1} << 0;
  static constexpr u64 kTableOrPage = u64{1} << 1;
  static constexpr unsigned kTypeShift = 2;
  static constexpr u64 kReadOnly = u64{1} << 7;
  static constexpr u64 kInnerShareable = u64{3} << 8;
  static constexpr u64 kAccessed = u64{1} << 10;
  static constexpr u64 kNotGlobal = u64{1} << 11;
  static constexpr u64 kContiguous = u64{1} << 52;
  static constexpr u64 kPrivilegedExecuteNever = u64{1} << 53;
  static constexpr u64 kUserExecuteNever = u64{1} << 54;
  static constexpr u64 kPermissionBits = kReadOnly | kPrivilegedExecuteNever | kUserExecuteNever;
  /// Bits 47:12; below a granule's page shift they are zero in every aligned address.
  static constexpr u64 kAddressMask = ((u64{1} << 48) - 1) & ~u64{0xfff};

  u64 raw_ = 0;
};

}  // namespace atl::arch
