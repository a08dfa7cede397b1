// The two names of per-CPU memory. A *local* address (in the local window) means the executing CPU's copy,
// whichever that is; a *global* alias means one CPU's copy on all CPUs. Arithmetic leads from the first
// to the second, never a table.
#pragma once

#include "arch/percpu_atomic.hpp"
#include "lib/address.hpp"

namespace atl::percpu {

/// Whether `p` is a local address, that is, must not be given to another CPU, queued or kept across a
/// migration. For debug checks wherever pointers are handed on.
inline bool is_local_address(const void* p) { return arch::is_percpu_local(address_of(p)); }

/// The alias of local address `p` that `offset` leads to (`arch::percpu_offset()` or `percpu_offset_of(cpu)`).
template <class T>
T* global_alias(T* p, u64 offset) {
  return pointer_to<T>(address_of(arch::launder_alias(p)) + offset);
}

}  // namespace atl::percpu
