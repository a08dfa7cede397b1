// Preemption of the running thread: a count of reasons against it, and whether the scheduler wants it.
//
// Both live in one 64-bit word of the thread, so that "no reason is left and the scheduler waits" is a test
// of one word against zero: the count in the low half, "not wanted" in the high half.
#pragma once

#include <atomic>

#include "arch/cpu.hpp"
#include "lib/config.hpp"
#include "lib/fault.hpp"
#include "lib/panic.hpp"

namespace atl::percpu {

/// Only the thread itself changes the count, and interrupt handlers leave it as they found it, so plain
/// loads and stores do. The request is set by interrupt handlers of the CPU that runs the thread.
class alignas(8) PreemptState {
 public:
  constexpr PreemptState() = default;

  u32 count() const { return count_; }
  bool requested() const { return not_wanted_ == 0; }
  /// Nothing forbids preemption and the scheduler wants it.
  bool due() const { return *reinterpret_cast<const volatile Word*>(this) == 0; }

  void disable() { count_ = count_ + 1; }
  void enable() { count_ = count_ - 1; }
  void request() { not_wanted_ = 0; }
  void clear_request() { not_wanted_ = 1; }

 private:
  using Word [[gnu::may_alias]] = u64;

  volatile u32 count_ = 0;
  volatile u32 not_wanted_ = 1;
};
static_assert(sizeof(PreemptState) == 8);

/// What SP_EL0 points at on every CPU from the first C++ instruction on: the start of the running thread.
struct ThreadState {
  PreemptState preempt;
};

/// Makes the executing CPU's idle thread the running one. The first thing each CPU does in C++: with PERCPU=preempt
/// every per-CPU operation counts in SP_EL0's thread.
void enter_cpu_context();

inline ThreadState& current_thread() { return *static_cast<ThreadState*>(arch::current()); }

/// Gives the CPU away if the request still stands and interrupts are not masked (whoever masked them is not
/// to be preempted; the request is served at the end of the next interrupt or preempt-off section).
/// Called by `preempt_enable` when the word is zero.
void preempt_schedule();

/// What `preempt_schedule` runs, preemption off: switches to another thread and returns when the caller is
/// next to run. Without one a request is dropped, there being nothing else to run. Set once, at boot.
void set_preempt_hook(void (*switch_threads)());

/// The running thread is to give its CPU away soon. From an interrupt handler, or with preemption off.
inline void request_reschedule() { current_thread().preempt.request(); }

/// Nests. Any context. Between these two the thread stays on its CPU; interrupts still come.
inline void preempt_disable() {
  current_thread().preempt.disable();
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

inline void preempt_enable() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  PreemptState& state = current_thread().preempt;
  if constexpr (kDebug) {
    if (state.count() == 0) panic("preemption enabled more often than disabled");
  }
  state.enable();
  if constexpr (kFault == Fault::preempt_request_ignored) return;
  // The word is loaded after the count is stored. An interrupt before the store sees a count and leaves its
  // request for us; one after it sees none and preempts by itself: no request falls between.
  if (state.due()) [[unlikely]]
    preempt_schedule();
}

}  // namespace atl::percpu
