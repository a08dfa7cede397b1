// Where per-CPU memory is seen, computed from granule and VA size: the top of the kernel's half.
//
//   global window      kMaxCpus units: every CPU's area, visible from all CPUs
//   local window       one unit: the executing CPU's own area, ending where the image's slots begin
//   kernel image       up to 2^64
//
// Below `percpu/`, because a per-CPU operation is made of these constants; `mm/layout.hpp` places the
// other regions around them (docs/decisions/0012-percpu-window-constants.md).
#pragma once

#include "arch-arm64/geometry.hpp"
#include "lib/address.hpp"
#include "lib/config.hpp"

namespace atl::arch {

template <class G>
struct PerCpuWindow {
  /// The level of the table that holds the local window's slot. A root with only a few entries
  /// (16K/48: two) has no slot to spare for one window, so there it is the level below.
  static constexpr int kSyncLevel = G::kRootEntries >= 64 ? G::kRootLevel : G::kRootLevel + 1;
  static constexpr u64 kSlotBytes = G::entry_bytes(kSyncLevel);
  static constexpr u64 in_slots(u64 bytes) { return align_up(bytes, kSlotBytes); }

  /// Bytes of one CPU's area: whole last-level tables, so that both windows can link the same ones.
  static constexpr u64 unit_bytes() {
    if (G::kVaBits >= 47) return 1_GiB;
    if (G::kVaBits >= 42) return 512_MiB;
    return G::kVaBits >= 39 ? 128_MiB : 32_MiB;
  }
  static constexpr u64 kUnitBytes = unit_bytes();
  static constexpr u64 kLastTableSpan = G::entry_bytes(kPageLevel - 1);
  static_assert(is_power_of_two(kUnitBytes) && kUnitBytes % kLastTableSpan == 0);

  // 128 MiB of image leave `adrp` (4 GiB either way) ample room to the window.
  static constexpr VirtRange kImage{VirtAddr(0) - in_slots(128_MiB), in_slots(128_MiB)};
  static constexpr VirtRange kLocal{kImage.start - kUnitBytes, kUnitBytes};
  /// The private slots hold the unit and, below it, room for mappings that one CPU makes for itself alone: at
  /// least a last-level table's span, in tables that no other CPU links.
  static constexpr u64 kLocalSlotBytes = in_slots(kUnitBytes + kLastTableSpan);
  static constexpr VirtRange kLocalSlots{kImage.start - kLocalSlotBytes, kLocalSlotBytes};
  static constexpr u64 kGlobalBytes = in_slots(kUnitBytes * kMaxCpus);
  static constexpr VirtRange kGlobal{kLocalSlots.start - kGlobalBytes, kGlobalBytes};

  /// Unit `cpu` in the global window, and what to add to a local address to get there.
  static constexpr VirtAddr unit(unsigned cpu) { return kGlobal.start + u64{cpu} * kUnitBytes; }
  static constexpr u64 percpu_offset(unsigned cpu) { return unit(cpu) - kLocal.start; }
  static constexpr unsigned cpu_of_offset(u64 offset) {
    return static_cast<unsigned>((kLocal.start + offset - kGlobal.start) / kUnitBytes);
  }
};

/// The window of the geometry this image was built for.
using KernelPerCpuWindow = PerCpuWindow<KernelGeometry>;

}  // namespace atl::arch
