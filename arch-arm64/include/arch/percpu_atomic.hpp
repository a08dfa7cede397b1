// Seam: per-CPU memory. Where a CPU's copy of a variable is, and the instruction sequences of `this_cpu`
// operations on a plain address. Any context; nothing here blocks, calls or touches another CPU.
//
// A sequence reads and writes memory exactly once, or once a turn of its LL/SC loop, and nothing else is
// done inside it. That makes it safe to migrate in the middle: the exception return clears the exclusive
// monitor (Arm ARM B2.9.3), the store-exclusive fails, and the retry works on the new CPU's memory at the
// same address. No sequence orders anything against other memory: the data is one CPU's own.
//
// Where a CPU has FEAT_LSE, `percpu/lse_patch.hpp` overwrites each LL/SC loop in place by one instruction
// and NOPs. Each sequence records where it is in `.percpu_sites`, which `tools/percpu_sites.py` reads.
#pragma once

#include <concepts>

#include "lib/address.hpp"

namespace atl::arch {

/// What to add to a local address to reach `cpu`'s copy: GLOBAL_BASE + cpu * UNIT - LOCAL_BASE (mod 2^64).
/// Of the executing CPU, `percpu_offset()` (arch/cpu.hpp) reads the same number from a register.
u64 percpu_offset_of(unsigned cpu);
/// Whether `va` lies in the local window, where each CPU sees its own memory.
bool is_percpu_local(VirtAddr va);
/// `p` as an address of which the compiler no longer knows what it points at. An alias must be made so:
/// derived from a variable by arithmetic, it would be taken not to overlap with the variable it aliases.
template <class T>
T* launder_alias(T* p);

/// Defined in arch-impl, because the host gathers its variables elsewhere:
///   ATOLL_PER_CPU        storage of a per-CPU variable: in the section that is linked at the local window,
///                        and constant-initialised, so that the image holds the template of every copy
///   ATOLL_PER_CPU_PAGES  the same for objects aligned to pages, which come first, so that none is split

/// The words that a sequence works on; 128 bits only in `percpu_compare_exchange`.
template <class W>
concept PerCpuWord =
    std::same_as<W, u8> || std::same_as<W, u16> || std::same_as<W, u32> || std::same_as<W, u64>;

/// `p` is naturally aligned and may point to an object of any type of that size.
template <PerCpuWord W> W percpu_read(const W* p);
template <PerCpuWord W> void percpu_write(W* p, W value);
template <PerCpuWord W> void percpu_add(W* p, W value);
template <PerCpuWord W> W percpu_add_return(W* p, W value);  ///< the new value
template <PerCpuWord W> void percpu_and(W* p, W value);
template <PerCpuWord W> void percpu_or(W* p, W value);
template <PerCpuWord W> W percpu_exchange(W* p, W value);  ///< the old value
/// Stores `desired` if the word equals `expected`; the old value tells. `u128` is a pair for `ldxp`/`casp`.
template <class W>
  requires(PerCpuWord<W> || std::same_as<W, u128>)
W percpu_compare_exchange(W* p, W expected, W desired);

/// The operations by the number that a site record holds; tools/percpu_sites.py has the same list.
enum class PerCpuOperation : u8 {
  read,
  write,
  add,
  add_return,
  bit_and,
  bit_or,
  exchange,
  compare_exchange,
};

/// Mark the first and the last instruction of an operation that is more than one sequence. `Bytes`: its width.
template <PerCpuOperation Operation, usize Bytes> void percpu_site_begin();
template <PerCpuOperation Operation, usize Bytes> void percpu_site_end();

}  // namespace atl::arch

#include "arch-impl/percpu_atomic.hpp"
