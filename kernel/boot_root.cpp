#include "kernel/boot_root.hpp"

#include "arch/mmu.hpp"
#include "kernel/early_tables.hpp"
#include "kernel/image.hpp"
#include "mm/kernel_tables.hpp"
#include "mm/layout.hpp"
#include "mm/page_tables.hpp"

namespace atl {
namespace {

/// The early pool through the image's virtual address.
struct ImageAccess {
  static PhysAddr pool() { return arch::image_to_phys(__early_tables); }
  static unsigned& used() { return early_tables_used; }
  static arch::Descriptor* pointer(PhysAddr pa) {
    return pointer_to<arch::Descriptor>(address_of(__early_tables) + (pa - pool()));
  }
  static void publish_table() { arch::publish_table(); }
  static void publish_descriptor() { arch::publish_descriptor(); }
};
using BootTables = mm::PageTables<arch::KernelGeometry, EarlyTableMemory<ImageAccess>>;

/// One CPU runs so far, on this root alone: all it holds is dropped at once.
struct LocalFlush {
  void cleared(VirtRange, u64) {}
};

constinit PhysAddr g_image;

}  // namespace

void boot_root_init(PhysAddr image) {
  g_image = image;
  arch::set_image_offset(mm::KernelLayout::kImage.start.value() - image.value());
}

PhysAddr image_phys() { return g_image; }

Result<VirtAddr> map_in_boot_root(VirtRange window, PhysRange range, arch::PageAttributes attributes) {
  if (range.empty() || !mm::addressable().contains(range)) return fail(Error::out_of_range);
  const PhysAddr first = range.start.align_down(arch::kPageSize);
  const u64 bytes = range.end().align_up(arch::kPageSize) - first;
  if (bytes > window.size) return fail(Error::out_of_range);
  BootTables tables(EarlyTableMemory<ImageAccess>(), arch::current_root());
  TRY(tables.map(window.start, first, bytes, attributes));
  return window.start + (range.start - first);
}

void unmap_from_boot_root(VirtRange window) {
  BootTables tables(EarlyTableMemory<ImageAccess>(), arch::current_root());
  LocalFlush flush;
  for (VirtAddr page = window.start; page < window.end(); page += arch::kPageSize) {
    static_cast<void>(tables.unmap({page, arch::kPageSize}, flush));  // what is not mapped need not be undone
  }
  arch::tlb_flush_all_local();
}

}  // namespace atl
