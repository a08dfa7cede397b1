// The kernel's own tables: the one instance of the per-CPU roots, over physical memory and the linear map.
//
// They have one owner: whoever holds their lock. Lock order: the tables' lock, then the roots' (taken by every
// store at the sync level), then the zone's (taken where a table is allocated). Nothing takes an earlier one while
// it holds a later one. What holds the tables' lock may print, but does not wait for another CPU.
#pragma once

#include <utility>

#include "arch/mmu.hpp"
#include "lib/address.hpp"
#include "lib/result.hpp"
#include "mm/kernel_roots.hpp"
#include "mm/layout.hpp"
#include "mm/linear_map.hpp"
#include "mm/percpu_windows.hpp"
#include "mm/physical_memory.hpp"
#include "percpu/events.hpp"
#include "percpu/spin_lock.hpp"

namespace atl::mm {

/// The memory policy of all tables after the boot root.
struct KernelTableMemory {
  using Lock = percpu::SpinLock;

  Result<PhysAddr> allocate_table(u64 bytes) { return allocate_zeroed(bytes); }
  void free_table(PhysAddr pa) { free_pages(pa, 0); }
  arch::Descriptor* table(PhysAddr pa) { return pointer_to<arch::Descriptor>(phys_to_virt(pa)); }
  void publish_table() { arch::publish_table(); }
  void publish_descriptor() { arch::publish_descriptor(); }
};

using Roots = KernelRoots<KernelLayout, KernelTableMemory>;
using Windows = PerCpuWindows<Roots>;

/// What is known of the roots without the tables' lock: addresses, CPUs, counters, comparison. Any context.
const Roots& kernel_roots();

/// What the holder of the tables' lock has.
struct KernelTables {
  Roots& roots;      ///< every CPU's root
  Windows& windows;  ///< every CPU's unit in both windows
  /// Device mappings so far end here.
  VirtAddr devices_end = KernelLayout::kDevices.start;

  /// All shared mappings.
  Roots::MasterTables master() { return roots.master(); }
};

percpu::Guarded<KernelTables>& kernel_tables();

/// Walks or changes the tables: `with_kernel_tables([](KernelTables& tables) { … })`, and returns what that does.
/// IRQs are masked meanwhile. Any context, but not from within itself.
template <class Use>
decltype(auto) with_kernel_tables(Use&& use) {
  return kernel_tables().with(std::forward<Use>(use));
}

/// The addresses that descriptors and TCR_EL1.IPS can name on this CPU, as on all. RAM and devices beyond are
/// out of reach.
PhysRange addressable();

/// Flushes each range it is told of, by broadcast: the sink for single unmaps and protects.
struct BroadcastFlush {
  void cleared(VirtRange range, u64 stride) {
    for (u64 offset = 0; offset < range.size; offset += stride) arch::tlb_flush_page(range.start + offset);
    percpu::count(percpu::Event::tlb_broadcast, range.size / stride);
  }
};

/// Maps device registers, at the same offset in a page and, where they are large, with blocks. Kept for ever.
/// `out_of_range`: not `addressable()`. `no_memory`: the device region is full. Any context.
[[nodiscard]] Result<VirtRange> map_device(PhysRange registers);

}  // namespace atl::mm
