// The executing CPU's logical number.
#pragma once

#include "percpu/percpu.hpp"

namespace atl::percpu {

/// Written through `on(cpu)` when the CPU's unit is made, and never again.
extern PerCpu<u32> cpu_number;

/// Read through the local window. Without a token that forbids migration it may be outdated at once.
inline unsigned this_cpu() { return cpu_number.read(); }
inline unsigned this_cpu(const MigrationOff&) { return cpu_number.read(); }

}  // namespace atl::percpu
