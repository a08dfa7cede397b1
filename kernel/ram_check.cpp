#include "kernel/ram_check.hpp"

#include "arch/mmu.hpp"
#include "kernel/boot_require.hpp"
#include "kernel/boot_root.hpp"
#include "lib/format.hpp"
#include "mm/layout.hpp"

namespace atl {
namespace {

using mm::KernelLayout;

/// Through the cache to the memory itself: a line would hold a word for an address where nothing is.
bool holds(VirtAddr word, u32 value) {
  if (!arch::probe_write(word, value)) return false;
  arch::clean_to_poc({word, sizeof value});
  return arch::probe_read(word) == value;
}

bool is_memory(PhysAddr word) {
  const VirtRange window = KernelLayout::kFixProbe;
  // What cannot be mapped has not been tried, and says nothing about the memory.
  const VirtAddr mapped =
      require(map_in_boot_root(window, {word, sizeof(u32)}, arch::kKernelData), "RAM check");
  const auto before = arch::probe_read(mapped);
  const bool held = before && holds(mapped, ~*before) && holds(mapped, *before);
  unmap_from_boot_root(window);
  return held;
}

/// The free runs at both ends of `bank`; empty if none is.
struct Ends {
  PhysRange first, last;
};
Ends free_ends(const mm::MemoryMap& map, PhysRange bank) {
  Ends ends;
  map.for_each_free([&](PhysRange run) {
    const PhysRange here = mm::intersection(run, bank);
    if (here.empty()) return;
    if (ends.first.empty()) ends.first = here;
    ends.last = here;
  });
  return ends;
}

/// How much of the front of `bank` is there. What a tree makes too large is real at its start: so a board with less
/// memory than its tree says runs with at least half of it.
u64 bytes_there(const mm::MemoryMap& map, PhysRange bank) {
  while (!bank.empty()) {
    const auto [first, last] = free_ends(map, bank);
    if (first.empty()) break;
    if (!is_memory(first.start)) return 0;
    if (is_memory(last.end() - sizeof(u32))) break;
    bank.size = align_down(bank.size / 2, map.page_size());
  }
  return bank.size;
}

}  // namespace

void leave_out_absent_ram(mm::MemoryMap& map) {
  for (usize i = 0; i < map.ram().size();) {
    const PhysRange bank = map.ram()[i];
    const u64 there = bytes_there(map, bank);
    if (there != 0) ++i;
    if (there == bank.size) continue;
    print("memory: {} of {} KiB at {} are left out: they are not there\n", (bank.size - there) >> 10,
          bank.size >> 10, bank.start);
    map.leave_out({bank.start + there, bank.size - there});
  }
}

}  // namespace atl
