// Waiting in WFI for a condition that another CPU, or an interrupt here, makes true.
#pragma once

#include "arch/cpu.hpp"
#include "arch/timer.hpp"
#include "lib/types.hpp"

namespace atl {

/// Returns when `condition()` holds. Whoever makes it true sends this CPU Ipi::wake afterwards.
/// Context: IRQs enabled. No wake-up is lost: the condition is checked with IRQs masked, WFI returns for a
/// pending interrupt even so, and unmasking then takes it.
template <class Condition>
void wait_until(Condition condition) {
  for (;;) {
    arch::irq_disable();
    const bool done = condition();
    if (!done) arch::wait_for_interrupt();
    arch::irq_enable();
    if (done) return;
  }
}

/// As above, but gives up at `deadline` (timer ticks): returns whether the condition held.
/// Uses this CPU's timer.
template <class Condition>
bool wait_until(Condition condition, u64 deadline) {
  arch::timer_set_deadline(deadline);
  bool held = false;
  wait_until([&] { return (held = condition()) || arch::timer_ticks() >= deadline; });
  arch::timer_cancel();
  return held;
}

}  // namespace atl
