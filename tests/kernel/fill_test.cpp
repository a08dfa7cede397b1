// All of free RAM, written and read: it is there, each page is another, and what it holds is the test's alone. Where
// bytes of others must stay as they are (tests/qemu/intact.py), this is what would overwrite them.
#include "mm/linear_map.hpp"
#include "mm/physical_memory.hpp"
#include "tests/kernel/selftest.hpp"

namespace atl {
namespace {

/// More takes an emulator too long.
constexpr u64 kMostBytes = 512_MiB;

/// A free page that the test holds: a mark at every 512th byte is the page's address, and beside the first is a link.
struct HeldPage {
  struct Part {
    PhysAddr mark;
    PhysAddr next;
    u8 rest[512 - 2 * sizeof(PhysAddr)];
  };
  Part parts[arch::kPageSize / sizeof(Part)];
};
static_assert(sizeof(HeldPage) == arch::kPageSize);

HeldPage& page_at(PhysAddr pa) { return *pointer_to<HeldPage>(mm::phys_to_virt(pa)); }

ATOLL_SELFTEST(case12_free_ram_holds_what_is_written, "more than 512 MiB of RAM") {
  const mm::MemoryCounts before = mm::memory_counts();
  if (before.free_pages > kMostBytes / arch::kPageSize) return selftest_skip("more than 512 MiB of RAM");
  PhysAddr held;
  u64 pages = 0;
  while (const auto page = mm::allocate_pages(0)) {
    for (HeldPage::Part& part : page_at(*page).parts) part.mark = *page;
    page_at(*page).parts[0].next = held;
    held = *page;
    ++pages;
  }
  EXPECT_EQ(pages, before.free_pages);
  for (; pages > 0; --pages) {
    const PhysAddr page = held;
    bool whole = true;
    for (const HeldPage::Part& part : page_at(page).parts) whole = whole && part.mark == page;
    EXPECT_THAT(whole, "the page at {} does not hold what was written", page);
    if (!whole) return;  // nor can the link be trusted
    held = page_at(page).parts[0].next;
    mm::free_pages(page, 0);
  }
  EXPECT_EQ(mm::memory_counts().free_pages, before.free_pages);
}

}  // namespace
}  // namespace atl
