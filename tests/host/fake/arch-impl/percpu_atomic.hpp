// arch/percpu_atomic.hpp for host tests: builtins do what the sequences do, and the window is ordinary memory,
// arranged by tests/host/fake/percpu_units.hpp.
#pragma once

#include "arch/percpu_atomic.hpp"
#include "lib/fault.hpp"

// A section whose name is a C identifier gets __start_ and __stop_ symbols from the linker.
#define ATOLL_PER_CPU [[gnu::section("percpu_variables")]] constinit
#define ATOLL_PER_CPU_PAGES [[gnu::section("percpu_variables")]] constinit

namespace atl::arch {

u64 percpu_offset_of(unsigned cpu);
bool is_percpu_local(VirtAddr va);

template <class T>
T* launder_alias(T* p) {
  T* volatile unknown = p;
  return unknown;
}

// The planted width shows here as it does in the kernel: a 16-bit operation reaches its neighbour.
template <class W>
auto* percpu_memory(W* p) {
  using Plain = std::remove_const_t<W>;
  using Accessed = std::conditional_t<kFault == Fault::accessor_width && sizeof(W) == 2, u32, Plain>;
  using Aliased [[gnu::may_alias, gnu::aligned(sizeof(W))]] = Accessed;
  return reinterpret_cast<Aliased*>(const_cast<Plain*>(p));
}

template <PerCpuWord W>
W percpu_read(const W* p) {
  return static_cast<W>(__atomic_load_n(percpu_memory(p), __ATOMIC_RELAXED));
}
template <PerCpuWord W>
void percpu_write(W* p, W value) {
  __atomic_store_n(percpu_memory(p), value, __ATOMIC_RELAXED);
}
template <PerCpuWord W>
void percpu_add(W* p, W value) {
  __atomic_fetch_add(percpu_memory(p), value, __ATOMIC_RELAXED);
}
template <PerCpuWord W>
W percpu_add_return(W* p, W value) {
  return static_cast<W>(__atomic_add_fetch(percpu_memory(p), value, __ATOMIC_RELAXED));
}
template <PerCpuWord W>
void percpu_and(W* p, W value) {
  __atomic_fetch_and(percpu_memory(p), value, __ATOMIC_RELAXED);
}
template <PerCpuWord W>
void percpu_or(W* p, W value) {
  __atomic_fetch_or(percpu_memory(p), value, __ATOMIC_RELAXED);
}
template <PerCpuWord W>
W percpu_exchange(W* p, W value) {
  return static_cast<W>(__atomic_exchange_n(percpu_memory(p), value, __ATOMIC_RELAXED));
}

// Not atomic, and need not be: a host thread stands for a CPU, and host threads have no interrupts.
template <class W>
  requires(PerCpuWord<W> || std::same_as<W, u128>)
W percpu_compare_exchange(W* p, W expected, W desired) {
  auto& memory = *percpu_memory(p);
  const W old = static_cast<W>(memory);
  if (old == expected) memory = desired;
  return old;
}

template <PerCpuOperation Operation, usize Bytes>
void percpu_site_begin() {}
template <PerCpuOperation Operation, usize Bytes>
void percpu_site_end() {}

}  // namespace atl::arch
