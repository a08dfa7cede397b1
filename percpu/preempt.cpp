#include "percpu/preempt.hpp"

#include "percpu/percpu.hpp"

namespace atl::percpu {

namespace {

using SwitchThreads = void (*)();
constinit SwitchThreads preempt_hook = nullptr;

/// What each CPU runs as from its start on, and when it has nothing else to run.
ATOLL_PER_CPU PerCpu<ThreadState> idle_thread;

}  // namespace

void enter_cpu_context() {
  const IrqsOff here;
  arch::set_current(std::addressof(idle_thread.here(here)));
}

void set_preempt_hook(SwitchThreads switch_threads) { preempt_hook = switch_threads; }

void preempt_schedule() {
  if (arch::irqs_masked()) return;
  // The state is the thread's, so it is the same one on whichever CPU the hook returns.
  PreemptState& state = current_thread().preempt;
  while (state.due()) {
    state.disable();
    state.clear_request();
    if (preempt_hook != nullptr) preempt_hook();
    state.enable();
  }
}

}  // namespace atl::percpu
