// How far each CPU got on its way to being online: one word a CPU, the only record there is.
#pragma once

#include <array>
#include <atomic>

#include "lib/config.hpp"
#include "lib/cpu_set.hpp"
#include "lib/types.hpp"

namespace atl {

enum class CpuState : u8 {
  off,       ///< nobody has asked for it yet
  starting,  ///< CPU_ON was accepted, or is about to be issued
  arrived,   ///< runs the kernel, waits for its ping
  online,    ///< has answered it
  // Left out for good: by firmware, by itself, or by the boot CPU.
  refused,
  no_granule,
  lacks_features,
  wrong_window,
  no_gic_interface,
  no_timer,
  did_not_start,
  did_not_answer,
};
const char* to_string(CpuState state);

/// Nobody is waited for longer than this, in nanoseconds, after the last sign of progress. With 160 vCPUs on two host
/// cores the last one may be seconds behind; CPUs that are dead cost the boot this once for each of the two waits.
constexpr u64 patience_ns(unsigned cpus) { return 2'000'000'000 + u64{cpus} * 50'000'000; }

/// A CPU leaves `starting` and `arrived` by itself, or the boot CPU takes it out when its patience ends. Both do it by
/// compare-exchange, so one of them wins and the other knows: a CPU that comes too late finds that it is not counted
/// on, and nobody's view of who is online changes after the roll call. Any context, any CPU.
class RollCall {
 public:
  CpuState state(unsigned cpu) const { return states_[cpu].load(std::memory_order_acquire); }
  /// Whether `cpu` was in `from`; it is in `to` then. What the mover wrote before is visible to who sees `to`.
  bool move(unsigned cpu, CpuState from, CpuState to) {
    return states_[cpu].compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                                std::memory_order_acquire);
  }
  CpuSet in(CpuState state) const;
  /// Whoever is still in `from` is in `to` from now on.
  void close(CpuState from, CpuState to);

 private:
  std::array<std::atomic<CpuState>, kMaxCpus> states_{};
};

}  // namespace atl
