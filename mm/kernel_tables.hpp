// The kernel's own tables: the one instance of the per-CPU roots, over physical memory and the linear map.
#pragma once

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

/// Master, every CPU's root, and the counters of their sync.
Roots& kernel_roots();
/// Every CPU's unit in both windows.
Windows& kernel_windows();

/// Flushes each range it is told of, by broadcast: the sink for single unmaps and protects.
struct BroadcastFlush {
  void cleared(VirtRange range, u64 stride) {
    for (u64 offset = 0; offset < range.size; offset += stride) arch::tlb_flush_page(range.start + offset);
    percpu::count(percpu::Event::tlb_broadcast, range.size / stride);
  }
};

/// Maps device registers, at the same offset in a page and, where they are large, with blocks. Kept for ever.
/// Boot CPU, or later under the caller's own lock.
[[nodiscard]] Result<VirtRange> map_device(PhysRange registers);

}  // namespace atl::mm
