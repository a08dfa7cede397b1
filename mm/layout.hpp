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
#include "arch-arm64/percpu_window.hpp"
#include "lib/address.hpp"
#include "lib/config.hpp"
#include "mm/stack_slots.hpp"

namespace atl::mm {

/// Bytes of one `Page`, a power of two; `mm/page.hpp` asserts it.
inline constexpr u64 kPageStructBytes = 64;

template <class G>
struct Layout : arch::PerCpuWindow<G> {
  using Geometry = G;
  static constexpr unsigned kVa = G::kVaBits;

  using Window = arch::PerCpuWindow<G>;
  using Window::in_slots;
  using Window::kGlobal;
  using Window::kImage;
  using Window::kLocal;
  using Window::kSlotBytes;
  using Window::kSyncLevel;
  using Window::kUnitBytes;
  static constexpr usize slot_of(VirtAddr va) { return G::index(va, kSyncLevel); }

  /// Units share tables at the highest level whose tables lie wholly inside one unit.
  static constexpr int kUnitTableLevel =
      G::entry_bytes(arch::kPageLevel - 2) <= kUnitBytes ? arch::kPageLevel - 1 : arch::kPageLevel;
  static constexpr u64 kUnitTableSpan = G::entry_bytes(kUnitTableLevel - 1);
  static constexpr usize kUnitTables = kUnitBytes / kUnitTableSpan;

  static constexpr VirtRange kLinear{G::kKernelStart, G::kKernelBytes / 2};
  static constexpr VirtRange kShadow{kLinear.end(), G::kKernelBytes / 8};
  static constexpr u64 kVmemmapPages = kLinear.size >> G::kPageShift;
  static constexpr u64 kVmemmapBytes = in_slots(kVmemmapPages * kPageStructBytes);
  static constexpr VirtRange kVmemmap{kShadow.end(), kVmemmapBytes};

  // Below the windows. GICR frames of kMaxCpus CPUs take 64 MiB (128 with GICv4); the rest of the devices little.
  static constexpr VirtRange kFixed{kGlobal.start - in_slots(256_MiB), in_slots(256_MiB)};
  static constexpr VirtRange kVmalloc{kVmemmap.end(), kFixed.start - kVmemmap.end()};

  /// The slots of all kernel stacks, in the order of their numbers.
  static constexpr VirtRange kStacks{kVmalloc.start, kStackSlots* StackSlots<G>::kSlotBytes};
  static constexpr VirtRange stack(u64 slot) { return StackSlots<G>::stack_of(kStacks.start, slot); }

  /// Boot-time windows in the fixed region, each large enough for its use at any alignment.
  static constexpr VirtRange kFixDeviceTree{kFixed.start, 4_MiB};
  static constexpr VirtRange kFixConsole{kFixDeviceTree.end(), 64_KiB};
  static constexpr VirtRange kFixEarlycon{kFixConsole.end(), 64_KiB};
  static constexpr VirtRange kFixProbe{kFixEarlycon.end(), 128_KiB};
  static constexpr VirtRange kFixPatch{kFixDeviceTree.start + 8_MiB, 8_MiB};
  static constexpr VirtRange kDevices{kFixPatch.end(), kFixed.size - 16_MiB};

  static_assert(kVmalloc.start < kVmalloc.end() && kStacks.size < kVmalloc.size);
  static_assert(kLocal.size + kImage.size <= 4_GiB || kImage.size > 4_GiB,
                "the linker script bounds the image itself where the slot is large");
  static_assert(kFixProbe.end() <= kFixPatch.start);
  static_assert(kVa > 48 || kFixed.start > kVmemmap.end());
  static_assert((~u64{0} << 48) <= kFixed.start.value(), "link-time addresses stay in the top 48 bits");
  static_assert(kShadow.start.is_aligned(kSlotBytes) && kVmemmap.start.is_aligned(kSlotBytes) &&
                kVmalloc.start.is_aligned(kSlotBytes) && kGlobal.start.is_aligned(kSlotBytes) &&
                kImage.start.is_aligned(kSlotBytes));
};

using KernelLayout = Layout<arch::KernelGeometry>;

}  // namespace atl::mm
