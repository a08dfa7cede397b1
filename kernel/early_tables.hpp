// Translation tables of the time before memory management: taken from a pool in the image, never freed.
#pragma once

#include "arch-arm64/descriptor.hpp"
#include "lib/address.hpp"
#include "lib/result.hpp"

namespace atl {

/// Tables the pool holds. Identity map: one per level and one more last-level table (4). Boot root: the root,
/// then for image, local and global window, fixed region and arena at most one table a level and a second
/// last-level one each; the device-tree window spans up to three.
inline constexpr unsigned kEarlyTables = 32;

/// What head.S needs to turn the MMU on, in this order.
struct EarlyRoots {
  PhysAddr identity_root;
  PhysAddr boot_root;
  u64 tcr = 0;
};

/// Filled by head.S's call of `early_map_kernel`; secondaries use the identity root and TCR too.
extern EarlyRoots early_roots;
/// How many tables of the pool are in use.
extern unsigned early_tables_used;

/// The pool's memory policy for `mm::PageTables`. `Access` turns a table's physical address into a pointer:
/// the same number before the MMU is on, the image alias after.
template <class Access>
class EarlyTableMemory {
 public:
  Result<PhysAddr> allocate_table(u64 bytes) {
    if (bytes > arch::kPageSize || Access::used() == kEarlyTables) return fail(Error::no_memory);
    const PhysAddr pa = Access::pool() + u64{Access::used()++} * arch::kPageSize;
    arch::Descriptor* entries = table(pa);
    for (usize i = 0; i < arch::kPageSize / sizeof(arch::Descriptor); ++i) entries[i] = arch::Descriptor();
    return pa;
  }
  /// Only a failed `map` gives tables back, and at this stage that ends the boot.
  void free_table(PhysAddr) {}
  arch::Descriptor* table(PhysAddr pa) { return Access::pointer(pa); }
  void publish_table() { Access::publish_table(); }
  void publish_descriptor() { Access::publish_descriptor(); }
};

}  // namespace atl
