// An IRQ-safe spinlock and data that lives inside its lock.
//
// Barging test-and-test-and-set: with 160 vCPUs on two host cores a FIFO hand-over to a waiter that is not
// running costs three to four orders of magnitude (docs/decisions/0003). Shared hot locks are what per-CPU
// data avoids; what is left is held for short times and rarely contended.
#pragma once

#include <atomic>

#include "arch/cpu.hpp"
#include "lib/thread_safety.hpp"

namespace atl::percpu {

/// Any context, IRQ handlers included: the holder has IRQs masked. Not recursive.
class ATOLL_LOCK_TYPE("spin lock") SpinLock {
 public:
  void lock() ATOLL_ACQUIRES() ATOLL_UNCHECKED {
    const u64 saved = arch::irq_save();
    while (held_.exchange(true, std::memory_order_acquire)) {
      // Taking the IRQs that came meanwhile keeps a waiter from delaying those who wait for it.
      arch::irq_restore(saved);
      while (held_.load(std::memory_order_relaxed)) arch::relax();
      arch::irq_save();
    }
    saved_ = saved;
  }
  void unlock() ATOLL_RELEASES() ATOLL_UNCHECKED {
    const u64 saved = saved_;
    held_.store(false, std::memory_order_release);
    arch::irq_restore(saved);
  }

 private:
  std::atomic<bool> held_ = false;
  /// The holder's interrupt state: only the holder touches it.
  u64 saved_ = 0;
};

/// Holds a lock for a scope.
template <class Lock>
class ATOLL_SCOPED_LOCK LockGuard {
 public:
  explicit LockGuard(Lock& lock) ATOLL_ACQUIRES(lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() ATOLL_RELEASES() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

/// Data that can only be reached with its lock held: `zone.with([](BuddyZone& z) { … })`.
template <class T, class Lock = SpinLock>
class Guarded {
 public:
  template <class... Args>
  constexpr explicit Guarded(Args&&... args) : data_(static_cast<Args&&>(args)...) {}

  template <class Use>
  decltype(auto) with(Use&& use) {
    LockGuard guard(lock_);
    return use(data_);
  }

 private:
  Lock lock_;
  T data_ ATOLL_GUARDED_BY(lock_);
};

}  // namespace atl::percpu
