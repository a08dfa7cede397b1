// Per-CPU variables.
//
//   // header                                   // source, at namespace scope
//   extern percpu::PerCpu<u64> switches;        ATOLL_PER_CPU percpu::PerCpu<u64> switches;
//
//   switches.add(1);                            // this CPU's copy, wherever the thread runs: no token needed
//   switches.on(cpu)                            // that CPU's copy, from any CPU
//   PreemptOff here; queue.here(here).push(t);  // this CPU's copy by reference, while the thread stays
//
// A variable is linked at the local window: its address means "the executing CPU's copy", so that address is
// never given out. References are global aliases.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "arch/cpu.hpp"
#include "percpu/alias.hpp"
#include "percpu/migration.hpp"
#include "percpu/operations.hpp"

namespace atl::percpu {

/// A typed local address: what the per-CPU allocator gives out, or a part of a PerCpu<T>. The same on all CPUs.
template <class T>
class PerCpuPtr : public PerCpuOperations<PerCpuPtr<T>, T> {
 public:
  constexpr PerCpuPtr() = default;
  /// The object whose copies lie at `local` in the window.
  static PerCpuPtr at(VirtAddr local) { return PerCpuPtr(pointer_to<T>(local)); }

  /// For the allocator and for messages.
  VirtAddr local_address() const { return address_of(local_); }
  explicit operator bool() const { return local_ != nullptr; }
  friend bool operator==(PerCpuPtr a, PerCpuPtr b) { return a.local_ == b.local_; }

  /// `cpu`'s copy, which must be populated. Accesses by the reference are ordinary ones: the caller sees to races.
  T& on(unsigned cpu) const { return *alias(arch::percpu_offset_of(cpu)); }
  /// This CPU's copy. The reference stays this CPU's after the token is gone, but is then somebody else's copy.
  T& here(const MigrationOff&) const {
    if constexpr (kFault == Fault::alias_is_local) return *local_;
    return *alias(arch::percpu_offset());
  }

  /// A member, or an element of an array, as a per-CPU object of its own.
  template <class M, std::same_as<T> C>
  PerCpuPtr<M> field(M C::* member) const {
    return PerCpuPtr<M>(std::addressof(local_->*member));
  }
  auto element(usize index) const
    requires requires(T& t) { t[index]; }
  {
    return PerCpuPtr<std::remove_reference_t<decltype((*local_)[index])>>(std::addressof((*local_)[index]));
  }

 private:
  template <class> friend class PerCpuPtr;
  template <class> friend class PerCpu;
  friend class PerCpuOperations<PerCpuPtr, T>;

  constexpr explicit PerCpuPtr(T* local) : local_(local) {}

  T* local() const { return local_; }
  T* alias(u64 offset) const {
    if constexpr (kDebug) {
      if (!is_local_address(local_))
        panic("{} is no local address: a PerCpu without ATOLL_PER_CPU?", local_address());
    }
    return global_alias(local_, offset);
  }

  T* local_ = nullptr;
};

/// Storage of a per-CPU variable; defined with ATOLL_PER_CPU, or page-aligned with ATOLL_PER_CPU_PAGES. Neither a
/// template nor `inline`: compilers ignore the section of what they put in a COMDAT group.
/// The initial value is every copy's; there are no constructors to run for a CPU that comes later.
template <class T>
class PerCpu : public PerCpuOperations<PerCpu<T>, T> {
 public:
  constexpr PerCpu() : value_{} {}
  template <class... Args>
    requires(sizeof...(Args) > 0 && std::constructible_from<T, Args...>)
  constexpr explicit PerCpu(Args&&... args) : value_(std::forward<Args>(args)...) {}

  PerCpu(const PerCpu&) = delete;
  PerCpu& operator=(const PerCpu&) = delete;
  /// The address would be a local one; `pointer()` has a type that says so.
  PerCpu* operator&() = delete;
  const PerCpu* operator&() const = delete;

  PerCpuPtr<T> pointer() const { return PerCpuPtr<T>(local()); }
  T& on(unsigned cpu) const { return pointer().on(cpu); }
  T& here(const MigrationOff& token) const { return pointer().here(token); }
  template <class M, std::same_as<T> C>
  PerCpuPtr<M> field(M C::* member) const {
    return pointer().field(member);
  }
  auto element(usize index) const
    requires requires(T& t) { t[index]; }
  {
    return pointer().element(index);
  }

 private:
  friend class PerCpuOperations<PerCpu, T>;

  T* local() const { return std::addressof(value_); }

  mutable T value_;
};

}  // namespace atl::percpu
