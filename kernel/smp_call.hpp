// Running a function on other CPUs, from an inter-processor interrupt, and waiting for it.
#pragma once

#include <type_traits>

#include "lib/cpu_set.hpp"

namespace atl {

/// Installs the IPI handlers of calls and wake-ups. Boot CPU, before any other is started.
void smp_call_init();

/// Runs `function(argument)` once on every CPU of `targets` (all online; the caller may be among them), IRQs
/// masked there, and returns when all have finished. What the functions wrote is visible to the caller.
///
/// Context: IRQs enabled, since the caller has to serve the calls of others while it waits: two CPUs that
/// call each other with IRQs masked would wait for ever. A masked caller panics. May not be nested: the
/// function itself may not call others. The request lies with the calling CPU, one at a time: a second call from it
/// before the first has returned panics, so a thread that calls keeps preemption off.
/// A call that takes 10 s is reported, with the CPUs that have not begun it; one that takes a minute panics.
void call_on(const CpuSet& targets, void (*function)(void*), void* argument);

template <class Function>
void call_on(const CpuSet& targets, Function&& function) {
  using Target = std::remove_reference_t<Function>;
  call_on(
      targets, [](void* f) { (*static_cast<Target*>(f))(); },
      const_cast<void*>(static_cast<const void*>(&function)));
}

/// Runs `function(argument)` on `cpu` in its idle loop, IRQs enabled; returns at once. One piece of work may
/// wait per CPU: where one does already, this panics. (Threads will take this over.)
void run_when_idle(unsigned cpu, void (*function)(void*), void* argument);

/// What an idle CPU does for ever: its work, then WFI. Checks with IRQs masked, so no wake-up is lost.
[[noreturn]] void idle_loop();

}  // namespace atl
