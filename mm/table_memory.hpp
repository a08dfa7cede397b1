// What every user of translation tables needs of memory, and the only ways a descriptor is
// read from or stored into a table.
#pragma once

#include <concepts>

#include "arch-arm64/descriptor.hpp"
#include "lib/address.hpp"
#include "lib/fault.hpp"
#include "lib/panic.hpp"
#include "lib/result.hpp"

namespace atl::mm {

/// A small handle on where tables come from, copied by value into whatever walks them.
///  * `allocate_table(bytes)`: zeroed, physically contiguous, aligned to the granule's page size;
///  `no_memory`.
///  * `free_table(pa)`: takes back one page that `allocate_table` gave.
///  * `table(pa)`: the descriptors at `pa`, readable and writable now.
///  * `publish_table()`: stores to a table are visible to walkers before it is linked (dsb ishst).
///  * `publish_descriptor()`: stores to live tables are visible to walkers and to this CPU's next
///    instruction (dsb ishst; isb).
template <class M>
concept TableMemory = std::copy_constructible<M> && requires(M m, PhysAddr pa, u64 bytes) {
  { m.allocate_table(bytes) } -> std::same_as<Result<PhysAddr>>;
  { m.free_table(pa) } -> std::same_as<void>;
  { m.table(pa) } -> std::same_as<arch::Descriptor*>;
  { m.publish_table() } -> std::same_as<void>;
  { m.publish_descriptor() } -> std::same_as<void>;
};

// A walker may read a table at any time, so a descriptor is loaded and stored as one 64-bit
// access that the compiler can neither tear nor repeat (Arm ARM B2.2.1: single-copy atomic).
static_assert(sizeof(arch::Descriptor) == sizeof(u64) && std::is_standard_layout_v<arch::Descriptor>);

inline arch::Descriptor read_descriptor(const arch::Descriptor& entry) {
  return arch::Descriptor(*reinterpret_cast<const volatile u64*>(&entry));
}
inline void write_descriptor(arch::Descriptor& entry, arch::Descriptor value) {
  *reinterpret_cast<volatile u64*>(&entry) = value.raw();
}

/// Break-before-make (Arm ARM D8.14.1): a live entry never goes from valid to another valid address, kind
/// or type in one step. Whoever tries would split or move a live mapping under a running CPU.
inline void check_break_before_make(VirtAddr va, arch::Descriptor old, arch::Descriptor next) {
  if constexpr (kFault == Fault::break_before_make_skipped) return;
  if (old.needs_break_before(next)) [[unlikely]] {
    panic("break-before-make: {} from {:#x} to {:#x}", va, old.raw(), next.raw());
  }
}

}  // namespace atl::mm
