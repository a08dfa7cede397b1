// Units lie apart: each CPU's static per-CPU area, up to the end of its last page, is memory of its own.
#include "arch/cpu.hpp"
#include "arch/mmu.hpp"
#include "kernel/image.hpp"
#include "percpu/percpu.hpp"
#include "tests/kernel/selftest.hpp"
#include "tests/kernel/support.hpp"

namespace atl {
namespace {

using mm::KernelLayout;
using percpu::IrqsOff;
using percpu::PerCpu;

/// As many words as its alignment has.
template <usize Alignment>
struct alignas(Alignment) Words {
  std::array<u64, Alignment / sizeof(u64)> words;
};

// Bytes between them, so that only their own alignment can put them where they belong.
ATOLL_PER_CPU PerCpu<u8> odd_1;
ATOLL_PER_CPU PerCpu<Words<64>> line;
ATOLL_PER_CPU PerCpu<u8> odd_2;
ATOLL_PER_CPU PerCpu<Words<128>> two_lines;
ATOLL_PER_CPU PerCpu<u8> odd_3;
ATOLL_PER_CPU_PAGES PerCpu<Words<arch::kPageSize>> page;

/// What the template leaves of the last page of a unit. No variable lies there; the last word is the farthest
/// that one unit can reach towards the next.
u64 static_bytes() { return static_cast<u64>(__percpu_template_end - __percpu_template); }
bool has_pad() { return static_bytes() % arch::kPageSize != 0; }
u64& last_word(unsigned cpu) {
  return *pointer_to<u64>(KernelLayout::unit(cpu) + align_up(static_bytes(), arch::kPageSize) - sizeof(u64));
}

/// Different in every CPU's unit and at every place.
constexpr u64 canary(unsigned cpu, u64 place) { return 0xca9a'27ed'0000'0000 | place << 12 | cpu; }

template <usize Alignment>
void check_alignment(const PerCpu<Words<Alignment>>& variable, unsigned cpu, const IrqsOff& here) {
  const VirtAddr local = variable.pointer().local_address();
  const VirtAddr global = address_of(&variable.here(here));
  const auto frame = arch::translate(local);
  EXPECT_THAT(frame && frame == arch::translate(global), "CPU {}: {} and {} are not the same memory", cpu,
              local, global);
  EXPECT_THAT(
      local.is_aligned(Alignment) && global.is_aligned(Alignment) && frame && frame->is_aligned(Alignment),
      "CPU {}: the object at {} (alias {}) is not aligned to {} bytes", cpu, local, global, Alignment);
}

ATOLL_SELFTEST(case25_objects_are_aligned_in_both_windows) {
  on_every_cpu([](unsigned cpu) {
    odd_1.write(1);
    odd_2.write(2);
    odd_3.write(3);
    const IrqsOff here;
    check_alignment(line, cpu, here);
    check_alignment(two_lines, cpu, here);
    check_alignment(page, cpu, here);
  });
}

/// A unit's outermost words of no use to anybody else: the page object, which comes first, and the pad.
template <class Visit>
void for_each_end(unsigned cpu, Visit visit) {
  visit("the end of its page object", page.on(cpu).words.back(), canary(cpu, 1));
  if (has_pad()) visit("the end of its unit", last_word(cpu), canary(cpu, 2));
}

bool ends_are_intact(const char* when) {
  bool all = true;
  online_cpus().for_each([&](unsigned cpu) {
    for_each_end(cpu, [&](const char* place, u64 word, u64 wanted) {
      all = all && word == wanted;
      EXPECT_THAT(word == wanted, "units overlap: CPU {} has {:#x} at {}, not {:#x}, {}", cpu, word, place,
                  wanted, when);
    });
  });
  return all;
}

template <usize Alignment>
void fill(Words<Alignment>& object, unsigned cpu) {
  for (usize i = 0; i + 1 < object.words.size(); ++i) object.words[i] = canary(cpu, 3 + i);
}

template <usize Alignment>
bool is_filled(const Words<Alignment>& object, unsigned cpu) {
  bool all = true;
  for (usize i = 0; i + 1 < object.words.size(); ++i) all = all && object.words[i] == canary(cpu, 3 + i);
  return all;
}

ATOLL_SELFTEST(case25_units_keep_apart) {
  on_every_cpu(
      [](unsigned cpu) { for_each_end(cpu, [](const char*, u64& word, u64 value) { word = value; }); });
  // Where units overlap, more would be written than this test's own words.
  if (!ends_are_intact("as it was written")) return;

  on_every_cpu([](unsigned cpu) {
    fill(line.on(cpu), cpu);
    fill(two_lines.on(cpu), cpu);
    fill(page.on(cpu), cpu);
  });
  online_cpus().for_each([](unsigned cpu) {
    EXPECT_THAT(
        is_filled(line.on(cpu), cpu) && is_filled(two_lines.on(cpu), cpu) && is_filled(page.on(cpu), cpu),
        "units overlap: CPU {} has words of another CPU in its objects", cpu);
  });
  ends_are_intact("after the objects were written");
}

}  // namespace
}  // namespace atl
