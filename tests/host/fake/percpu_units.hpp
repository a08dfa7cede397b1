// Per-CPU memory on the host. All variables of the test binary lie in one section, which plays the local window.
// Without anything else every CPU has the same copy: the section itself. `PerCpuUnits` gives each its own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "lib/types.hpp"

namespace atl::arch::fake {

/// For its lifetime CPUs 0 … cpus-1 have units of their own, filled from the section as it is. There can be one.
/// The calling thread is CPU 0 at first: `percpu_offset()` reads as CPU 0's.
class PerCpuUnits {
 public:
  explicit PerCpuUnits(unsigned cpus);
  ~PerCpuUnits();
  PerCpuUnits(const PerCpuUnits&) = delete;
  PerCpuUnits& operator=(const PerCpuUnits&) = delete;

  /// The calling thread goes on as `cpu`.
  void migrate_to(unsigned cpu);
  u64 offset_of(unsigned cpu) const;
  std::span<std::byte> unit(unsigned cpu) const;

 private:
  unsigned cpus_;
  std::unique_ptr<std::byte[]> memory_;
  std::byte* first_;
};

}  // namespace atl::arch::fake
