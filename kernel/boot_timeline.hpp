// When each stage of the boot was reached, from the first instruction on. Printed as it happens.
#pragma once

#include "lib/types.hpp"

namespace atl {

/// `entry_ticks`: the counter as head.S read it.
void boot_timeline_start(u64 entry_ticks);
/// Prints `boot: <stage> <n> us`: microseconds since entry.
void boot_stage(const char* stage);
/// Microseconds since entry.
u64 boot_microseconds();

}  // namespace atl
