// What a secondary CPU needs before it can run C++: read by head.S with the MMU off, so the boot CPU
// cleans it to the point of coherency before CPU_ON. Its physical address is PSCI's context_id.
#pragma once

#include "lib/address.hpp"

namespace atl {

/// Why a CPU parked itself before it had a stack, a window or a way to print.
enum class SecondaryStatus : u32 { starting = 0, no_granule = 1 };

struct alignas(64) SecondaryBoot {
  PhysAddr identity_root;
  PhysAddr own_root;
  u64 tcr = 0;
  u64 stack_top = 0;
  u64 percpu_offset = 0;
  u64 cpu = 0;
  /// Written by the secondary with its MMU off: clean to the point of coherency before reading it.
  SecondaryStatus status = SecondaryStatus::starting;
  /// For the few C++ instructions before its MMU is on.
  alignas(64) u8 early_stack[512] = {};
};

}  // namespace atl
