#include "kernel/boot_memory.hpp"

#include <algorithm>

#include "kernel/boot_require.hpp"
#include "kernel/boot_root.hpp"
#include "kernel/image.hpp"
#include "kernel/ram_check.hpp"
#include "kernel/read_machine.hpp"
#include "kernel/secondary_memory.hpp"
#include "mm/kernel_tables.hpp"
#include "mm/page_array.hpp"

namespace atl {
namespace {

using mm::KernelLayout;

constinit bool g_boot_translation_survived = false;

/// Enough for the linear map's and the image's tables at every page size: with 64K pages a bank that is not
/// aligned to 512 MiB takes two tables of 64 KiB, and 64 such banks 8 MiB.
constexpr u64 kArenaBytes = 32_MiB;
/// The arena starts and ends at these where it can, so that the boot root maps it with few tables.
constexpr u64 kArenaAlign = 2_MiB;

/// The first reachable piece of RAM: the largest free run's first part.
PhysRange choose_arena() {
  PhysRange best{};
  mm::memory_map().for_each_free([&](PhysRange run) {
    if (run.size > best.size) best = run;
  });
  const PhysAddr aligned = best.start.align_up(kArenaAlign);
  if (best.contains(PhysRange{aligned, kArenaAlign})) best = {aligned, best.end() - aligned};
  return {best.start, std::min(best.size, kArenaBytes)};
}

Result<> map_shared(VirtAddr va, PhysAddr pa, u64 bytes, arch::PageAttributes attributes) {
  return mm::with_kernel_tables(
      [&](mm::KernelTables& tables) { return tables.master().map(va, pa, bytes, attributes); });
}

Result<> map_linear(PhysRange range, arch::PageAttributes attributes) {
  if (range.empty()) return {};
  return map_shared(mm::phys_to_virt(range.start), range.start, range.size, attributes);
}

/// All RAM but `no-map`, writable; the image's code and constants read-only, since a writable alias of them
/// would undo W^X.
Result<> map_all_ram() {
  const PhysRange constant{image_phys(), arch::image_to_phys(__data_start) - image_phys()};
  Result<> result;
  mm::memory_map().for_each_mappable([&](PhysRange run) {
    if (!result) return;
    if (!run.overlaps(constant)) {
      result = map_linear(run, arch::kKernelData);
      return;
    }
    const PhysRange before{run.start, constant.start > run.start ? constant.start - run.start : 0};
    const PhysAddr end = std::min(constant.end(), run.end());
    const PhysAddr start = std::max(constant.start, run.start);
    result = map_linear(before, arch::kKernelData);
    if (result) result = map_linear({start, end - start}, arch::kKernelReadOnly);
    if (result) result = map_linear({end, run.end() - end}, arch::kKernelData);
  });
  return result;
}

Result<> map_image_part(const char* start, const char* end, arch::PageAttributes attributes) {
  const u64 bytes = align_up(static_cast<u64>(end - start), arch::kPageSize);
  return map_shared(address_of(start), arch::image_to_phys(start), bytes, attributes);
}

Result<> map_image() {
  TRY(map_image_part(__image_start, __text_end, arch::kKernelText));
  TRY(map_image_part(__rodata_start, __rodata_end, arch::kKernelReadOnly));
  // The lower half of the boot stack's slot stays unmapped, as every stack's.
  TRY(map_image_part(__data_start, __boot_stack_guard, arch::kKernelData));
  return map_image_part(__boot_stack, __image_end, arch::kKernelData);
}

/// The arena was empty, or too small for the tables.
[[noreturn]] void panic_without_memory(PhysRange arena) {
  const mm::MemoryMap& map = mm::memory_map();
  panic(
      "memory: no free RAM beside kernel, initrd and device tree: {} of {} KiB are free, and {} KiB in the "
      "largest piece are too few for the kernel's tables",
      map.free_bytes() >> 10, map.ram_bytes() >> 10, arena.size >> 10);
}

/// All that the boot CPU needs under its own root; gives where the console's registers are mapped, if there are any.
Result<VirtRange> build_own_root(PhysRange console, unsigned cpus) {
  TRY(mm::with_kernel_tables([&](mm::KernelTables& tables) { return tables.roots.init(cpus); }));
  TRY(map_all_ram());
  TRY(map_image());
  const VirtRange registers = console.empty() ? VirtRange{} : TRY(mm::map_device(console));
  TRY(mm::with_kernel_tables([&](mm::KernelTables& tables) -> Result<> {
    TRY(tables.roots.create_root(0));
    return tables.windows.create_unit(0, arch::image_to_phys(__boot_unit), static_unit_bytes());
  }));
  TRY(map_idle_stack(0));
  return registers;
}

/// Backs a part of the page array, by pieces as large as RAM has in one: where many banks or reservations cut it
/// up, there may be no run for the whole, yet plenty of memory.
Result<> back_with_zeroes(VirtRange range) {
  // Pieces are multiples of this as long as they can be, so that blocks and contiguous runs map them.
  constexpr u64 kCoarse = 2_MiB;
  u64 piece = range.size;
  while (!range.empty()) {
    piece = std::min(piece, range.size);
    const Result<PhysAddr> frames = mm::allocate_at_boot(piece, piece >= kCoarse ? kCoarse : arch::kPageSize);
    if (!frames) {
      if (piece == arch::kPageSize) return std::unexpected(frames.error());
      piece = align_up(piece / 2, piece > kCoarse ? kCoarse : arch::kPageSize);
      continue;
    }
    TRY(map_shared(range.start, *frames, piece, arch::kKernelData));
    __builtin_memset(pointer_to<void>(range.start), 0, piece);
    range = {range.start + piece, range.size - piece};
  }
  return {};
}

}  // namespace

void finalize_memory_map(std::optional<u64> limit) {
  mm::MemoryMap& map = mm::memory_map();
  if (limit) map.limit(*limit);
  require(map.finalize(mm::MapRules::of<KernelLayout>(mm::addressable().end())), "memory map");
  leave_out_absent_ram(map);
  const PhysRange image{image_phys(), static_cast<u64>(__image_end - __image_start)};
  if (!map.is_mappable(image)) {
    panic("memory: the kernel, {} KiB at {}, is not in the RAM that the device tree names", image.size >> 10,
          image.start);
  }
  if (const PhysRange initrd = machine().initrd; !map.is_mappable(initrd)) {
    print("memory: the initrd at {} is beyond what this kernel can map; ignored\n", initrd.start);
    forget_initrd();
  }
  print("memory: {} MiB of RAM, {} MiB free\n", map.ram_bytes() >> 20, map.free_bytes() >> 20);
  const u64 unreachable = map.left_out().unreachable;
  if (unreachable != 0)
    print("memory: {} MiB of RAM are beyond what this kernel can map\n", unreachable >> 20);
}

Result<VirtAddr> enter_own_root(PhysRange console, unsigned cpus) {
  mm::linear_map_init(mm::memory_map().linear_base());
  const PhysRange arena = choose_arena();
  if (arena.empty()) panic_without_memory(arena);
  TRY(map_in_boot_root({mm::phys_to_virt(arena.start), arena.size}, arena, arch::kKernelData));
  mm::start_boot_allocator(arena);
  const Result<VirtRange> registers = build_own_root(console, cpus);
  if (!registers && registers.error().error == Error::no_memory) panic_without_memory(arena);
  if (!registers) return std::unexpected(registers.error());

  // The console's boot window is in the TLB for certain if it was just read.
  const VirtAddr boot_only = KernelLayout::kFixConsole.start;
  const bool was_mapped = arch::probe_read(boot_only).has_value();
  const mm::Roots& roots = mm::kernel_roots();
  arch::install_root(roots.zero_root_of(0), roots.root_of(0));
  g_boot_translation_survived = was_mapped && arch::probe_read(boot_only).has_value();
  mm::widen_boot_allocator();
  return registers->start;
}

bool boot_translation_survived() { return g_boot_translation_survived; }

Result<> start_page_allocator() {
  Result<> result;
  mm::for_each_page_array_range<KernelLayout>(mm::memory_map(), [&](VirtRange range) {
    if (result) result = back_with_zeroes(range);
  });
  TRY(result);
  mm::start_buddy_allocator({pointer_to<mm::Page>(KernelLayout::kVmemmap.start), mm::linear_map_base(),
                             KernelLayout::kVmemmapPages});
  return {};
}

}  // namespace atl
