// What other CPUs still hold after a mapping changed.
#include "arch/mmu.hpp"
#include "tests/kernel/selftest.hpp"
#include "tests/kernel/support.hpp"

namespace atl {
namespace {

constexpr u32 kFirst = 0xaaaa'1111;
constexpr u32 kSecond = 0xbbbb'2222;

/// Maps frame A, lets every CPU read it, remaps the same address to frame B. Then every CPU must read B.
ATOLL_SELFTEST(case20_remap_is_seen_by_every_cpu) {
  // Addresses whose page number has bits that a wrong shift of the TLBI operand would lose.
  for (u64 index : {1, 2, 5, 33}) {
    ScratchPage page(index);
    const auto a = allocate_filled(kFirst);
    const auto b = allocate_filled(kSecond);
    EXPECT(a && b);
    if (!a || !b) return;
    EXPECT(page.map(*a).has_value());
    on_every_cpu([&](unsigned cpu) {
      EXPECT_THAT(arch::probe_read(page.address()) == kFirst, "CPU {} does not see the mapping", cpu);
    });
    EXPECT(page.unmap().has_value());
    EXPECT(page.map(*b).has_value());
    on_every_cpu([&](unsigned cpu) {
      EXPECT_THAT(arch::probe_read(page.address()) == kSecond, "CPU {} still reads the page remapped from {}",
                  cpu, page.address());
    });
    EXPECT(page.unmap().has_value());
    mm::free_pages(*a, 0);
    mm::free_pages(*b, 0);
  }
}

ATOLL_SELFTEST(case34_unmap_is_seen_by_every_cpu) {
  ScratchPage page(3);
  const auto frame = allocate_filled(kFirst);
  EXPECT(frame.has_value());
  if (!frame) return;
  EXPECT(page.map(*frame).has_value());
  on_every_cpu([&](unsigned) { EXPECT(arch::probe_read(page.address()) == kFirst); });
  EXPECT(page.unmap().has_value());
  on_every_cpu([&](unsigned cpu) {
    EXPECT_THAT(!arch::probe_read(page.address()), "CPU {} still reads the page unmapped from {}", cpu,
                page.address());
  });
  mm::free_pages(*frame, 0);
}

}  // namespace
}  // namespace atl
