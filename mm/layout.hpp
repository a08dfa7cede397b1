// The kernel's virtual address space, computed from granule and VA size (docs/memory-layout.md).
//
//   -2^VA      linear map          half of everything
//   -2^(VA-1)  KASAN shadow        an eighth
//              vmemmap             one `Page` for each page of the linear map
//              vmalloc             what is left; kernel stacks at its start
//              fixed               fixmap windows, then device mappings
//              global window       kMaxCpus units: every CPU's per-CPU area, visible from all
//              local window        one unit: this CPU's own area, at its slot's end
//   -image     kernel image        up to the end
//
// Each region starts at a slot of the sync level, so no slot holds two of them, and the local
// window's slot holds nothing that is shared.
#pragma once

#include "arch-arm64/geometry.hpp"
#include "arch/trap.hpp"
#include "lib/address.hpp"
#include "lib/config.hpp"

namespace atoll::mm {

/// Bytes of one `Page`, a power of two; `mm/page.hpp` asserts it.
inline constexpr u64 kPageStructBytes = 64;
/// PID slots, each with a kernel stack slot (DESIGN.md section 10).
inline constexpr u64 kStackSlots = 32768;

template <class G>
struct Layout {
  using Geometry = G;
  static constexpr unsigned kVa = G::kVaBits;

  /// The level of the table that holds the local window's slot. A root with only a few entries
  /// (16K/48: two) has no slot to spare for one window, so there it is the level below.
  static constexpr int kSyncLevel = G::kRootEntries >= 64 ? G::kRootLevel : G::kRootLevel + 1;
  static constexpr u64 kSlotBytes = G::entry_bytes(kSyncLevel);
  static constexpr usize slot_of(VirtAddr va) { return G::index(va, kSyncLevel); }

  /// One CPU's per-CPU area: whole last-level tables, so that both windows can link the same ones.
  static constexpr u64 kLastTableSpan = G::entry_bytes(arch::kPageLevel - 1);
  static constexpr u64 unit_bytes() {
    if (kVa >= 47) return 1_GiB;
    if (kVa >= 42) return 512_MiB;
    return kVa >= 39 ? 128_MiB : 32_MiB;
  }
  static constexpr u64 kUnitBytes = unit_bytes();
  /// Units share tables at the highest level whose tables lie wholly inside one unit.
  static constexpr int kUnitTableLevel =
      G::entry_bytes(arch::kPageLevel - 2) <= kUnitBytes ? arch::kPageLevel - 1 : arch::kPageLevel;
  static constexpr u64 kUnitTableSpan = G::entry_bytes(kUnitTableLevel - 1);
  static constexpr usize kUnitTables = kUnitBytes / kUnitTableSpan;

  static constexpr u64 in_slots(u64 bytes) { return align_up(bytes, kSlotBytes); }

  static constexpr VirtRange kLinear{G::kKernelStart, G::kKernelBytes / 2};
  static constexpr VirtRange kShadow{kLinear.end(), G::kKernelBytes / 8};
  static constexpr u64 kVmemmapPages = kLinear.size >> G::kPageShift;
  static constexpr VirtRange kVmemmap{kShadow.end(), in_slots(kVmemmapPages * kPageStructBytes)};

  // From the top down. 128 MiB of image leave `adrp` (4 GiB either way) ample room to the window.
  static constexpr VirtRange kImage{VirtAddr(0) - in_slots(128_MiB), in_slots(128_MiB)};
  static constexpr VirtRange kLocal{kImage.start - kUnitBytes, kUnitBytes};
  static constexpr VirtRange kLocalSlots{kImage.start - in_slots(kUnitBytes), in_slots(kUnitBytes)};
  static constexpr VirtRange kGlobal{kLocalSlots.start - in_slots(kUnitBytes * kMaxCpus),
                                     in_slots(kUnitBytes * kMaxCpus)};
  // GICR frames of kMaxCpus CPUs take 64 MiB (128 with GICv4); the rest of the devices little.
  static constexpr VirtRange kFixed{kGlobal.start - in_slots(256_MiB), in_slots(256_MiB)};
  static constexpr VirtRange kVmalloc{kVmemmap.end(), kFixed.start - kVmemmap.end()};

  /// Kernel stack slot k occupies [start + k * 2 * stack, …); the stack is its upper half.
  static constexpr u64 kStackBytes = G::kPageSize > 16_KiB ? G::kPageSize : 16_KiB;
  static constexpr VirtRange kStacks{kVmalloc.start, kStackSlots * 2 * kStackBytes};

  /// Boot-time windows in the fixed region, each large enough for its use at any alignment.
  static constexpr VirtRange kFixDeviceTree{kFixed.start, 4_MiB};
  static constexpr VirtRange kFixConsole{kFixDeviceTree.end(), 64_KiB};
  static constexpr VirtRange kFixPatch{kFixDeviceTree.start + 8_MiB, 8_MiB};
  static constexpr VirtRange kDevices{kFixPatch.end(), kFixed.size - 16_MiB};

  /// Unit `cpu` in the global window, and what to add to a local address to get there.
  static constexpr VirtAddr unit(unsigned cpu) { return kGlobal.start + u64{cpu} * kUnitBytes; }
  static constexpr u64 percpu_offset(unsigned cpu) { return unit(cpu) - kLocal.start; }
  static constexpr unsigned cpu_of_offset(u64 offset) {
    return static_cast<unsigned>((kLocal.start + offset - kGlobal.start) / kUnitBytes);
  }

  static_assert(is_power_of_two(kUnitBytes) && kUnitBytes % kLastTableSpan == 0);
  static_assert(kVmalloc.start < kVmalloc.end() && kStacks.size < kVmalloc.size);
  static_assert(kLocal.size + kImage.size <= 4_GiB || kImage.size > 4_GiB,
                "the linker script bounds the image itself where the slot is large");
  static_assert(kFixConsole.end() <= kFixPatch.start);
  static_assert(kVa > 48 || kFixed.start > kVmemmap.end());
  static_assert((~u64{0} << 48) <= kFixed.start.value(), "link-time addresses stay in the top 48 bits");
  static_assert(kShadow.start.is_aligned(kSlotBytes) && kVmemmap.start.is_aligned(kSlotBytes) &&
                kVmalloc.start.is_aligned(kSlotBytes) && kGlobal.start.is_aligned(kSlotBytes) &&
                kImage.start.is_aligned(kSlotBytes));
};

using KernelLayout = Layout<arch::KernelGeometry>;
static_assert(KernelLayout::kStackBytes == arch::kStackBytes, "entry code tests kStackShift");

}  // namespace atoll::mm
