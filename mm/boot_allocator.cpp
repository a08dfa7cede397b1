#include "mm/boot_allocator.hpp"

namespace atl::mm {

BootAllocator::BootAllocator(const MemoryMap& map) : page_size_(map.page_size()) {
  map.for_each_free([&](const PhysRange& run) {
    // A bank and a reservation start at most one run each, so they fit.
    ATOLL_ASSERT(free_.insert(run).has_value());
  });
}

Result<PhysAddr> BootAllocator::allocate(u64 size, u64 align) {
  check_open();
  if (size == 0 || !is_power_of_two(align)) return fail(Error::invalid_argument);
  for (const PhysRange& run : free_.ranges()) {
    const PhysRange usable = intersection(run, window_);
    const u64 gap = usable.start.align_up(align) - usable.start;
    if (usable.size < size || usable.size - size < gap) continue;
    const PhysAddr start = usable.start + gap;
    take(run, {start, size});
    return start;
  }
  return fail(Error::no_memory);
}

void BootAllocator::take(const PhysRange& run, const PhysRange& taken) {
  const PhysAddr run_start = run.start;
  taken_ += taken.size;
  if (free_.remove(taken)) return;
  // Full. Without the gap below it the piece starts its run, and needs no entry of its own.
  wasted_ += taken.start - run_start;
  ATOLL_ASSERT(free_.remove({run_start, taken.end() - run_start}).has_value());
}

void BootAllocator::check_open() const {
  if (handed_over_) panic("boot allocator used after its memory went to the buddy allocator");
}

}  // namespace atl::mm
