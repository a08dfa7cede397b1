// Seam: the generic timer (virtual timer at EL1). 64-bit compare values, rate from CNTFRQ_EL0.
#pragma once

#include "arch/interrupts.hpp"
#include "lib/types.hpp"

namespace atl::arch {

/// Counter ticks since reset, never going back on one CPU; ISB-ordered.
u64 timer_ticks();
/// Ticks per second. Never zero once `timer_init_cpu` has returned.
u64 timer_frequency();
/// Nanoseconds for a tick count, rounded down to 1 ns, without overflow for 500 years.
u64 ticks_to_ns(u64 ticks);
/// Rounded up: a deadline that far away is never early.
u64 ns_to_ticks(u64 ns);

/// On each CPU, before its timer PPI is enabled: stops what firmware left running. Panics if CNTFRQ_EL0 is zero.
void timer_init_cpu();

/// Raises the timer PPI on this CPU while `timer_ticks() >= deadline`; replaces an earlier deadline.
/// The PPI is level-triggered: its handler sets a later deadline or cancels, or it is called again at once.
void timer_set_deadline(u64 deadline);
void timer_cancel();

}  // namespace atl::arch
