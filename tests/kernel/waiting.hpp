// For selftests that wait for another CPU: which one, and not for ever.
#pragma once

#include "arch/timer.hpp"
#include "kernel/smp.hpp"
#include "kernel/wait.hpp"
#include "lib/panic.hpp"

namespace atl {

/// The machine may be slow: 160 vCPUs on two host cores. What takes longer than this will not come.
inline constexpr u64 kTestPatienceNs = 10'000'000'000;

/// Looks every 200 us, since nobody wakes the test: whether `condition` came to hold in time. IRQs enabled.
template <class Condition>
bool look_until(Condition condition) {
  const u64 deadline = arch::timer_ticks() + arch::ns_to_ticks(kTestPatienceNs);
  while (!condition()) {
    const u64 now = arch::timer_ticks();
    if (now >= deadline) return false;
    wait_until([] { return false; }, now + arch::ns_to_ticks(200'000));
  }
  return true;
}

/// The online CPU with the next higher number; there has to be one.
inline unsigned online_after(unsigned cpu) {
  const CpuSet online = online_cpus();
  for (++cpu; cpu < kMaxCpus; ++cpu) {
    if (online.contains(cpu)) return cpu;
  }
  panic("the test did not check that there are enough CPUs");
}

}  // namespace atl
