// CPU identity: the affinity in MPIDR_EL1, in a device tree's `reg`, in GICR_TYPER and in ICC_SGI1R_EL1,
// and the map between affinities and logical CPU numbers.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <span>

#include "lib/config.hpp"
#include "lib/cpu_set.hpp"
#include "lib/fault.hpp"
#include "lib/result.hpp"
#include "lib/types.hpp"

namespace atl::arch {

/// Where a CPU sits: Aff3.Aff2.Aff1.Aff0, eight bits each. Never an index: on QEMU `virt` Aff0 is 0..15,
/// and CPU 159 is 0.0.9.15.
class Affinity {
 public:
  constexpr Affinity() = default;

  /// From MPIDR_EL1, or from a cpu node's `reg`, which has the same layout with zeros
  /// elsewhere. Drops MT, U, the bit 31 that reads as one, and the reserved bits 63:40.
  static constexpr Affinity of_mpidr(u64 mpidr) { return Affinity(mpidr & kMpidrMask); }
  /// From GICR_TYPER: bits 63:32 are the four fields side by side.
  static constexpr Affinity of_redistributor(u64 typer) { return of_packed(static_cast<u32>(typer >> 32)); }
  static constexpr Affinity of_packed(u32 packed) {
    return Affinity(u64{packed >> 24} << kLevel3Shift | (packed & 0xff'ffff));
  }

  /// Aff0..Aff3.
  constexpr u8 level(unsigned n) const { return static_cast<u8>(value_ >> (n == 3 ? kLevel3Shift : 8 * n)); }
  /// As MPIDR_EL1 has it, flags cleared: what PSCI and a device tree call this CPU.
  constexpr u64 value() const { return value_; }
  /// The four fields side by side.
  constexpr u32 packed() const {
    return static_cast<u32>(value_ >> kLevel3Shift) << 24 | (value_ & 0xff'ffff);
  }

  friend constexpr auto operator<=>(Affinity, Affinity) = default;

 private:
  static constexpr unsigned kLevel3Shift = 32;
  static constexpr u64 kMpidrMask = 0xff'00ff'ffff;

  constexpr explicit Affinity(u64 value) : value_(value) {}
  u64 value_ = 0;
};

/// MPIDR_EL1.MT: Aff0 numbers hardware threads that share a core, and maybe its TLB.
constexpr bool is_multithreaded(u64 mpidr) { return (mpidr >> 24 & 1) != 0; }

/// A value for ICC_SGI1R_EL1. One write reaches up to 16 CPUs: those that
/// share Aff3, Aff2, Aff1 and Aff0 / 16 (the range selector; above 0 only where GICD_TYPER.RSS allows it).
class SgiRequest {
 public:
  /// `sgi` is 0..15.
  constexpr SgiRequest(Affinity target, unsigned sgi)
      : value_(u64{target.level(3)} << 48 | u64{range_of(target)} << 44 | u64{target.level(2)} << 32 |
               u64{sgi} << 24 | cluster_field(target) | list_bit(target)) {}
  /// To every CPU but the sender (IRM = 1).
  static constexpr SgiRequest to_all_others(unsigned sgi) {
    return SgiRequest(u64{1} << 40 | u64{sgi} << 24);
  }

  /// Adds another target of the same SGI; false, and nothing done, if one write cannot reach both.
  constexpr bool add(Affinity target) {
    const u64 with_target = SgiRequest(target, value_ >> 24 & 0xf).value_;
    if ((value_ ^ with_target) & ~kTargetList) return false;
    value_ |= with_target;
    return true;
  }
  constexpr u64 value() const { return value_; }

 private:
  static constexpr u64 kTargetList = 0xffff;

  constexpr explicit SgiRequest(u64 value) : value_(value) {}
  static constexpr unsigned range_of(Affinity target) { return target.level(0) / 16; }
  static constexpr u64 list_bit(Affinity target) { return u64{1} << (target.level(0) % 16); }
  static constexpr u64 cluster_field(Affinity target) {
    return kFault == Fault::sgi_ignores_cluster ? 0 : u64{target.level(1)} << 16;
  }

  u64 value_;
};

/// Calls `write(SgiRequest)` for as few requests as reach `targets`, given that neighbours in number are
/// neighbours in affinity: a request ends where the next CPU does not fit. `mpidrs[cpu]` for every target.
template <class Write>
constexpr void for_each_sgi_request(const CpuSet& targets, std::span<const u64> mpidrs, unsigned sgi,
                                    Write write) {
  std::optional<SgiRequest> pending;
  targets.for_each([&](unsigned cpu) {
    const Affinity affinity = Affinity::of_mpidr(mpidrs[cpu]);
    if (pending && pending->add(affinity)) return;
    if (pending) write(*pending);
    pending = SgiRequest(affinity, sgi);
  });
  if (pending) write(*pending);
}

/// Logical CPU numbers: the boot CPU is 0, the others follow in device-tree order.
class CpuMap {
 public:
  constexpr CpuMap() = default;
  /// `boot_mpidr` is MPIDR_EL1 of the CPU that boots; it is number 0 whether or not the tree lists it.
  constexpr explicit CpuMap(u64 boot_mpidr) : count_(1) {
    mpidrs_[0] = Affinity::of_mpidr(boot_mpidr).value();
  }

  /// Enters the CPU of one cpu node, in device-tree order, and returns its number.
  /// `bad_firmware_data`: bits outside the affinity fields; `already_exists`: listed twice;
  /// `out_of_range`: there are kMaxCpus already. None of them changes the map.
  constexpr Result<unsigned> add(u64 reg) {
    const Affinity affinity = Affinity::of_mpidr(reg);
    if (affinity.value() != reg) return fail(Error::bad_firmware_data);
    if (const auto known = find(affinity)) {
      if (*known != 0 || boot_cpu_listed_) return fail(Error::already_exists);
      boot_cpu_listed_ = true;
      return 0u;
    }
    if (count_ == kMaxCpus) return fail(Error::out_of_range);
    const unsigned cpu = kFault == Fault::mpidr_as_index ? affinity.level(0) : count_;
    ++count_;
    mpidrs_[cpu] = reg;
    return cpu;
  }

  constexpr unsigned count() const { return count_; }
  /// False if the device tree did not list the CPU that boots: worth a line on the console.
  constexpr bool boot_cpu_listed() const { return boot_cpu_listed_; }
  /// By logical number; the affinity fields alone, as PSCI wants them.
  constexpr std::span<const u64> mpidrs() const { return std::span(mpidrs_).first(count_); }
  constexpr Affinity affinity(unsigned cpu) const { return Affinity::of_mpidr(mpidrs_[cpu]); }
  constexpr std::optional<unsigned> find(Affinity affinity) const {
    for (unsigned cpu = 0; cpu < count_; ++cpu) {
      if (mpidrs_[cpu] == affinity.value()) return cpu;
    }
    return std::nullopt;
  }

 private:
  std::array<u64, kMaxCpus> mpidrs_{};
  unsigned count_ = 0;
  bool boot_cpu_listed_ = false;
};

}  // namespace atl::arch
