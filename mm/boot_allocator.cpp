#include "mm/boot_allocator.hpp"

namespace atoll::mm {

BootAllocator::BootAllocator(const MemoryMap& map) : page_size_(map.page_size()) {
  map.for_each_free([&](const PhysRange& run) {
    // A bank and a reservation start at most one run each, so they fit.
    ATOLL_ASSERT(free_.insert(run).has_value());
  });
}

Result<PhysAddr> BootAllocator::allocate(u64 size, u64 align) {
  check_open();
  if (size == 0 || !is_power_of_two(align)) return fail(Error::invalid_argument);
  const auto runs = free_.ranges();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const PhysRange usable = intersection(*run, window_);
    if (usable.size < size) continue;
    const PhysAddr start = (usable.end() - size).align_down(align);
    if (start < usable.start) continue;
    take(*run, {start, size});
    return start;
  }
  return fail(Error::no_memory);
}

void BootAllocator::take(const PhysRange& run, const PhysRange& taken) {
  const PhysAddr run_end = run.end();
  taken_ += taken.size;
  if (free_.remove(taken)) return;
  // Full. Without the gap above it the piece ends its run, and needs no entry of its own.
  wasted_ += run_end - taken.end();
  ATOLL_ASSERT(free_.remove({taken.start, run_end - taken.start}).has_value());
}

void BootAllocator::check_open() const {
  if (handed_over_) panic("boot allocator used after its memory went to the buddy allocator");
}

}  // namespace atoll::mm
