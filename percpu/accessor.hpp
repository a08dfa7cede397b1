// The seam between per-CPU variables and the ways to reach them (PERCPU=).
#pragma once

#include <concepts>
#include <type_traits>

#include "lib/config.hpp"
#include "percpu/accessor_local.hpp"
#include "percpu/accessor_preempt.hpp"

namespace atl::percpu {

template <class A, class W>
concept AccessesPerCpuWord = requires(W* p, const W* constant, W value) {
  { A::read(constant) } -> std::same_as<W>;
  { A::write(p, value) } -> std::same_as<void>;
  { A::add(p, value) } -> std::same_as<void>;
  { A::add_return(p, value) } -> std::same_as<W>;
  { A::bit_and(p, value) } -> std::same_as<void>;
  { A::bit_or(p, value) } -> std::same_as<void>;
  { A::exchange(p, value) } -> std::same_as<W>;
  { A::compare_exchange(p, value, value) } -> std::same_as<W>;
};

/// Each operation takes a local address and works, as one step for this CPU's interrupts and for migration, on
/// the copy of the CPU that executes it. Any context, but the thread's state must be set (SP_EL0).
template <class A>
concept PerCpuAccessorVariant =
    AccessesPerCpuWord<A, u8> && AccessesPerCpuWord<A, u16> && AccessesPerCpuWord<A, u32> &&
    AccessesPerCpuWord<A, u64> && requires(u128* p, u128 value) {
      { A::compare_exchange(p, value, value) } -> std::same_as<u128>;
    };

static_assert(PerCpuAccessorVariant<LocalAccessor> && PerCpuAccessorVariant<PreemptAccessor>);

/// The variant this kernel was built with.
using Accessor = std::conditional_t<kConfigPerCpu == PerCpuAccessor::local, LocalAccessor, PreemptAccessor>;

}  // namespace atl::percpu
