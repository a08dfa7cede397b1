// What several selftests need: running a check on every CPU, and a place to map things.
#pragma once

#include <array>

#include "kernel/smp.hpp"
#include "kernel/smp_call.hpp"
#include "mm/kernel_tables.hpp"
#include "percpu/cpu_number.hpp"

namespace atl {

/// Runs `function(cpu)` on every online CPU, in interrupt context, and waits for all.
template <class Function>
void on_every_cpu(Function function) {
  call_on(online_cpus(), [&] { function(percpu::this_cpu()); });
}

/// A value for each CPU, written by that CPU alone.
template <class T>
using PerCpuResults = std::array<T, kMaxCpus>;

/// A page at the end of vmalloc, which nothing else uses.
class ScratchPage {
 public:
  /// The `index`th page below the end of vmalloc, or of the top-level slot `slots` before its last.
  explicit ScratchPage(u64 index, u64 slots = 0)
      : va_(mm::KernelLayout::kVmalloc.end() - slots * mm::KernelLayout::kSlotBytes -
            (index + 1) * arch::kPageSize) {}

  VirtAddr address() const { return va_; }
  Result<> map(PhysAddr frame) {
    return mm::with_kernel_tables([&](mm::KernelTables& tables) {
      return tables.master().map(va_, frame, arch::kPageSize, arch::kKernelData);
    });
  }
  /// Unmaps and flushes on all CPUs.
  Result<> unmap() {
    mm::BroadcastFlush flush;
    return mm::with_kernel_tables(
        [&](mm::KernelTables& tables) { return tables.master().unmap({va_, arch::kPageSize}, flush); });
  }

 private:
  VirtAddr va_;
};

/// A page of RAM filled with `word`, or a failure.
inline Result<PhysAddr> allocate_filled(u32 word) {
  const PhysAddr frame = TRY(mm::allocate_pages(0));
  u32* words = pointer_to<u32>(mm::phys_to_virt(frame));
  for (usize i = 0; i < arch::kPageSize / sizeof(u32); ++i) words[i] = word;
  return frame;
}

}  // namespace atl
