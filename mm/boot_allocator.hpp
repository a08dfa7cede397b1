// Physical memory before the buddy allocator exists: page tables, per-CPU areas, the page array.
//
// Hands out addresses from the bottom of the free RAM up, at byte granularity, so that aligned pieces smaller
// than a page (root tables) share pages. Not from the top: there lies the firmware that has just run, and
// writing over code that an emulator has translated is slow (docs/decisions/0013-boot-memory-from-the-bottom.md).
// Nothing is ever given back; what was not taken goes to the buddy allocator in one hand-over, which ends this
// allocator.
#pragma once

#include "lib/address.hpp"
#include "lib/fault.hpp"
#include "lib/panic.hpp"
#include "lib/result.hpp"
#include "mm/memory_map.hpp"

namespace atl::mm {

/// Not synchronised: the boot CPU, before the others run.
class BootAllocator {
 public:
  /// `map` is finalized, and is not needed any more after this.
  explicit BootAllocator(const MemoryMap& map);

  /// Allocate only inside `window` from now on: at first the part of RAM that early tables map,
  /// once the linear map stands all of it. Without a call there is no restriction.
  void set_window(PhysRange window) { window_ = window; }

  /// `size` bytes at a multiple of `align`, a power of two. Contents are undefined; zeroing is the
  /// caller's. `invalid_argument` if size is 0 or align no power of two; `no_memory` if no
  /// free run in the window is large enough.
  [[nodiscard]] Result<PhysAddr> allocate(u64 size, u64 align);

  /// Bytes handed out, and bytes given up because the table of free runs was full (kept, never free).
  u64 taken_bytes() const { return taken_; }
  u64 wasted_bytes() const { return wasted_; }

  /// Calls `visit(PhysRange)` for every run of whole pages that was not taken, inside the window or
  /// not, ascending. Later calls of this or of `allocate` panic.
  template <class Visit>
  void hand_over(Visit visit) {
    check_open();
    handed_over_ = true;
    for (const PhysRange& run : free_.ranges()) {
      const PhysRange pages = kFault == Fault::boot_page_handed_over
                                  ? PhysRange{run.start, align_up(run.size, page_size_)}
                                  : trimmed_inward(run, page_size_);
      if (!pages.empty()) visit(pages);
    }
  }

 private:
  /// The free runs of a map, and room for the gaps that alignment leaves. Small requests fill
  /// gaps again, and boot makes a handful of different requests, so few are open at a time.
  static constexpr usize kMaxRuns = MemoryMap::kMaxBanks + MemoryMap::kMaxReservations + 128;

  void check_open() const;
  void take(const PhysRange& run, const PhysRange& taken);

  RangeSet<kMaxRuns> free_;
  PhysRange window_{PhysAddr(0), kPhysicalEnd.value()};
  u64 page_size_;
  u64 taken_ = 0;
  u64 wasted_ = 0;
  bool handed_over_ = false;
};

}  // namespace atl::mm
