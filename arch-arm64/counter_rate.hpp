// The generic timer's rate, and what its ticks are in nanoseconds.
#pragma once

#include "lib/types.hpp"

namespace atl::arch {

class CounterRate {
 public:
  /// `hz` as CNTFRQ_EL0 holds it: 1 .. 2^32 - 1.
  constexpr explicit CounterRate(u64 hz) : hz_(hz) {}

  constexpr u64 hz() const { return hz_; }

  // Whole seconds and the rest are converted apart, so that no product exceeds 64 bits: the rest is below
  // hz < 2^32 ticks or below 10^9 < 2^30 ns, and 2^32 * 2^30 = 2^62.

  /// Rounded down. Exact as long as the result fits: 584 years.
  constexpr u64 to_ns(u64 ticks) const {
    return ticks / hz_ * kNsPerSecond + ticks % hz_ * kNsPerSecond / hz_;
  }
  /// Rounded up, so that whoever waits that long never waits too short: `to_ns(to_ticks(n)) >= n`.
  constexpr u64 to_ticks(u64 ns) const {
    return ns / kNsPerSecond * hz_ + (ns % kNsPerSecond * hz_ + kNsPerSecond - 1) / kNsPerSecond;
  }

 private:
  static constexpr u64 kNsPerSecond = 1'000'000'000;

  u64 hz_;
};

}  // namespace atl::arch
