// Builds the identity map and the boot root, at physical addresses with the MMU off (head.S calls it).
//
// Everything here has internal linkage: the walker is instantiated over a policy of this file, so that no
// code compiled for virtual addresses can be merged with it. tools/check_early.py looks at the object.
#include "arch-arm64/tcr.hpp"
#include "kernel/early_tables.hpp"
#include "kernel/image.hpp"
#include "mm/layout.hpp"
#include "mm/page_tables.hpp"

namespace atl {
namespace {

using mm::KernelLayout;

PhysAddr here(const char* symbol) { return PhysAddr(reinterpret_cast<u64>(symbol)); }

/// With the MMU off an address is physical, and no walker is running that would need a barrier.
struct PhysicalAccess {
  static PhysAddr pool() { return here(__early_tables); }
  static unsigned& used() { return early_tables_used; }
  static arch::Descriptor* pointer(PhysAddr pa) { return reinterpret_cast<arch::Descriptor*>(pa.value()); }
  static void publish_table() {}
  static void publish_descriptor() {}
};
using Memory = EarlyTableMemory<PhysicalAccess>;
using IdentityTables = mm::PageTables<arch::IdentityGeometry, Memory>;
using BootTables = mm::PageTables<arch::KernelGeometry, Memory>;

VirtAddr virtual_address(PhysAddr pa) { return KernelLayout::kImage.start + (pa - here(__image_start)); }

Result<> map_image(BootTables& tables, const char* start, const char* end, arch::PageAttributes attributes) {
  const PhysAddr first = here(start);
  return tables.map(virtual_address(first), first, align_up(here(end) - first, arch::kPageSize), attributes);
}

Result<> build(u64 mmfr0) {
  // The code alone: a CPU needs no more between turning its MMU on and leaving for its virtual address.
  IdentityTables identity = TRY(IdentityTables::create(Memory()));
  const PhysAddr text = here(__image_start);
  TRY(identity.map(VirtAddr(text.value()), text, align_up(here(__text_end) - text, arch::kPageSize),
                   arch::kKernelText));

  BootTables boot = TRY(BootTables::create(Memory()));
  TRY(map_image(boot, __image_start, __text_end, arch::kKernelText));
  TRY(map_image(boot, __rodata_start, __rodata_end, arch::kKernelReadOnly));
  // Not the lower half of the boot stack's slot: an overflow is to fault, not to run into what lies below.
  TRY(map_image(boot, __data_start, __boot_stack_guard, arch::kKernelData));
  TRY(map_image(boot, __boot_stack, __image_end, arch::kKernelData));

  // CPU 0's unit, in both windows by the same unit tables.
  const PhysAddr unit = here(__boot_unit);
  TRY(boot.map(KernelLayout::kLocal.start, unit, here(__boot_unit_end) - unit, arch::kKernelData,
               {.contiguous = false}));
  const auto unit_table = boot.table_at(KernelLayout::kLocal.start, KernelLayout::kUnitTableLevel);
  TRY(boot.link_table(KernelLayout::unit(0), KernelLayout::kUnitTableLevel, *unit_table));

  early_roots = {identity.root(), boot.root(), arch::kernel_tcr(mmfr0)};
  return {};
}

}  // namespace

/// hw/early_stop.cpp: does not return where the image cannot be mapped.
extern "C" void early_require_place();

constinit unsigned early_tables_used;
constinit EarlyRoots early_roots{};
[[gnu::section(".early_tables"),
  gnu::aligned(arch::kPageSize)]] char early_table_pool[kEarlyTables * arch::kPageSize];

/// Null if the pool is too small, which head.S reports.
extern "C" const EarlyRoots* early_map_kernel(u64 mmfr0) {
  early_require_place();
  return build(mmfr0) ? &early_roots : nullptr;
}

}  // namespace atl
