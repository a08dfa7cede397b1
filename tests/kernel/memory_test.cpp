// Physical pages, the linear map and kernel stacks as they stand after boot.
#include <algorithm>

#include "arch/mmu.hpp"
#include "kernel/boot_memory.hpp"
#include "kernel/secondary_memory.hpp"
#include "tests/kernel/selftest.hpp"
#include "tests/kernel/support.hpp"

namespace atl {
namespace {

ATOLL_SELFTEST(pages_come_back) {
  const mm::MemoryCounts before = mm::memory_counts();
  EXPECT(before.free_pages > 0);
  // Small machines do not have the larger blocks.
  std::array<PhysAddr, 8> blocks;
  unsigned orders = 0;
  while (orders < blocks.size()) {
    const auto block = mm::allocate_pages(orders);
    if (!block) break;
    EXPECT(block->is_aligned(arch::kPageSize << orders));
    EXPECT(mm::memory_map().is_ram({*block, arch::kPageSize << orders}));
    blocks[orders++] = *block;
  }
  EXPECT(orders > 0);
  EXPECT_EQ(mm::memory_counts().free_pages, before.free_pages - ((1u << orders) - 1));
  while (orders-- > 0) mm::free_pages(blocks[orders], orders);
  EXPECT_EQ(mm::memory_counts().free_pages, before.free_pages);
}

ATOLL_SELFTEST(linear_map_is_all_of_ram_and_no_more) {
  mm::memory_map().for_each_mappable([](PhysRange run) {
    for (const PhysAddr pa : {run.start, run.start + run.size / 2, run.end() - 1}) {
      const auto back = arch::translate(mm::phys_to_virt(pa));
      EXPECT_THAT(back == pa, "linear alias of {} does not translate back", pa);
    }
  });
  const auto reservations = mm::memory_map().reservations();
  // The kernel itself stays mapped, whatever a tree says of its memory.
  const auto is_kernel = [&](PhysAddr pa) {
    return std::ranges::any_of(reservations, [pa](const mm::Reservation& r) {
      return r.kind == mm::ReservationKind::kernel && r.range.contains(pa);
    });
  };
  for (const mm::Reservation& r : reservations) {
    if (r.kind != mm::ReservationKind::no_map || is_kernel(r.range.start)) continue;
    EXPECT_THAT(!arch::translate(mm::phys_to_virt(r.range.start)), "no-map memory at {} is mapped",
                r.range.start);
  }
}

ATOLL_SELFTEST(stacks_have_guards) {
  online_cpus().for_each([](unsigned cpu) {
    const VirtAddr bottom = idle_stack_top(cpu) - arch::kStackBytes;
    EXPECT_THAT(arch::translate(bottom).has_value(), "CPU {}: the stack's last page is not mapped", cpu);
    EXPECT_THAT(!arch::translate(bottom - 1), "CPU {}: there is no guard below the stack", cpu);
    EXPECT_THAT(!arch::translate(idle_stack_top(cpu)), "CPU {}: there is no guard above the stack", cpu);
  });
}

ATOLL_SELFTEST(case24_no_boot_translation_survives) {
  EXPECT_THAT(!boot_translation_survived(), "a translation of the boot root was still used after the switch");
}

}  // namespace
}  // namespace atl
