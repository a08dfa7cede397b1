// What happens how often, counted on the CPU where it happens: one `this_cpu` add an event, no shared line.
#pragma once

#include <array>

#include "lib/cpu_set.hpp"
#include "lib/types.hpp"
#include "percpu/percpu.hpp"

namespace atl::percpu {

enum class Event : u8 {
  call_sent,      ///< functions this CPU asked others to run, one a target
  call_served,    ///< functions this CPU ran for others
  wake_received,  ///< interrupts that only end a WFI
  timer_interrupt,
  pages_allocated,  ///< by the buddy allocator, in pages
  pages_freed,
  tlb_broadcast,  ///< TLBI instructions that reach all CPUs
  console_input,  ///< characters
  kinds,          ///< not an event: how many there are
};
inline constexpr usize kEventCount = static_cast<usize>(Event::kinds);
const char* to_string(Event event);

using EventCounts = std::array<u64, kEventCount>;
extern PerCpu<EventCounts> event_counts;

/// Any context; the thread may migrate at any point, each count lands on the CPU that executes it.
inline void count(Event event, u64 n = 1) { event_counts.element(static_cast<usize>(event)).add(n); }

/// The sum over `cpus`, each read once: exact when nothing happens meanwhile.
u64 total(Event event, const CpuSet& cpus);

}  // namespace atl::percpu
