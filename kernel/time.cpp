#include "kernel/time.hpp"

#include "arch/timer.hpp"
#include "percpu/events.hpp"

namespace atl {
namespace {

/// Armed, but in nobody's way.
constexpr u64 kHourNs = u64{3600} * 1'000'000'000;

constinit arch::IrqNumber g_timer_irq;

/// Who waits with a deadline looks at the clock itself; the interrupt only ends its WFI.
void handle_timer(arch::IrqNumber) {
  percpu::count(percpu::Event::timer_interrupt);
  arch::timer_cancel();
}

}  // namespace

Result<> time_init(arch::IrqNumber timer_irq) {
  g_timer_irq = timer_irq;
  return arch::irq_set_handler(timer_irq, handle_timer);
}

Result<> time_init_cpu() {
  arch::timer_init_cpu();
  arch::timer_set_deadline(arch::timer_ticks() + arch::ns_to_ticks(kHourNs));
  return arch::irq_enable_line(g_timer_irq);
}

}  // namespace atl
