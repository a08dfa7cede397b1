#include "percpu/events.hpp"

namespace atl::percpu {

ATOLL_PER_CPU PerCpu<EventCounts> event_counts;

const char* to_string(Event event) {
  switch (event) {
    case Event::call_sent: return "calls sent";
    case Event::call_served: return "calls served";
    case Event::wake_received: return "wakes received";
    case Event::timer_interrupt: return "timer interrupts";
    case Event::pages_allocated: return "pages allocated";
    case Event::pages_freed: return "pages freed";
    case Event::tlb_broadcast: return "TLB broadcasts";
    case Event::console_input: return "console characters";
    case Event::kinds: break;
  }
  return "?";
}

u64 total(Event event, const CpuSet& cpus) {
  u64 sum = 0;
  cpus.for_each([&](unsigned cpu) {
    const u64& counter = event_counts.on(cpu)[static_cast<usize>(event)];
    sum += __atomic_load_n(&counter, __ATOMIC_RELAXED);
  });
  return sum;
}

}  // namespace atl::percpu
