// Units: every CPU's per-CPU memory in the global window, and its own again in its local window.
//
// CPU k's unit tables (those at `Layout::kUnitTableLevel` and below) are linked twice, by the master tree for
// the global window and by CPU k's private tables for the local one. So the aliases agree by construction,
// and what is mapped in one is mapped in the other by the same store.
#pragma once

#include "mm/kernel_roots.hpp"

namespace atl::mm {

/// `Roots` is a `KernelRoots`. The caller serialises all calls; nothing here touches a unit's contents.
template <class Roots>
class PerCpuWindows {
 public:
  using L = typename Roots::Layout;
  using G = typename Roots::G;

  constexpr explicit PerCpuWindows(Roots& roots) : roots_(roots) {}

  /// Maps the static unit of `cpu`, `bytes` at `frames` (contiguous, page-aligned), at the start of both of
  /// its windows. CPU 0's frames are the image's own. The CPU has a root and is not running on it yet.
  Result<> create_unit(unsigned cpu, PhysAddr frames, u64 bytes) {
    const usize pages = align_up(bytes, G::kPageSize) / G::kPageSize;
    if (kFault == Fault::unit_overlap && is_last(cpu)) {
      const VirtAddr neighbours_last = L::unit(cpu - 1) + (pages - 1) * G::kPageSize;
      TRY(populate(cpu, 0, roots_.master().query(neighbours_last)->pa, 1));
      return populate(cpu, G::kPageSize, frames + G::kPageSize, pages - 1);
    }
    return populate(cpu, 0, frames, kFault == Fault::unit_stride ? pages - 1 : pages);
  }

  /// Maps `pages` from `frames` at `offset` bytes into the unit, in both windows. Always by single pages:
  /// they are freed one at a time, and an entry of a contiguous run cannot be. The CPU may be running.
  /// `already_exists` and `no_memory` change nothing but leave intermediate tables; `out_of_range` past UNIT.
  Result<> populate(unsigned cpu, u64 offset, PhysAddr frames, usize pages) {
    const u64 bytes = pages * G::kPageSize;
    if (offset > L::kUnitBytes || bytes > L::kUnitBytes - offset) return fail(Error::out_of_range);
    const VirtRange local{L::kLocal.start + offset, bytes};
    const VirtRange global{L::unit(cpu) + offset, bytes};
    auto own = roots_.local(cpu);
    auto shared = roots_.master();
    // What could run out of memory comes first; then linking cannot fail.
    TRY(own.ensure_tables(local, L::kUnitTableLevel - 1));
    TRY(shared.map(global.start, frames, bytes, arch::kKernelData,
                   {.largest_leaf = G::kPageSize, .contiguous = false}));
    const u64 shift = L::unit(linked_unit(cpu)) - L::kLocal.start;
    for (VirtAddr va = local.start.align_down(L::kUnitTableSpan); local.overlaps({va, L::kUnitTableSpan});
         va += L::kUnitTableSpan) {
      TRY(own.link_table(va, L::kUnitTableLevel, *shared.table_at(va + shift, L::kUnitTableLevel)));
    }
    return {};
  }

 private:
  /// And has a neighbour.
  bool is_last(unsigned cpu) const { return cpu != 0 && cpu == roots_.possible_cpus() - 1; }

  /// Whose unit `cpu` sees in its local window: its own.
  unsigned linked_unit(unsigned cpu) const {
    return kFault == Fault::shared_window && is_last(cpu) ? cpu - 1 : cpu;
  }

  Roots& roots_;
};

}  // namespace atl::mm
