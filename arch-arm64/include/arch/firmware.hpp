// Seam: PSCI calls and the ways to end the machine. Any context.
#pragma once

#include "lib/address.hpp"
#include "lib/result.hpp"

namespace atl::arch {

/// How the device tree says PSCI is reached; `none` makes every call fail with `not_supported`.
enum class PsciConduit : u8 { none, hvc, smc };
void firmware_init(PsciConduit conduit);

/// PSCI CPU_ON (64-bit). Returns at once; the CPU starts at `entry` with `context` in x0, MMU off.
/// `already_exists` = ALREADY_ON or ON_PENDING, `denied`, `invalid_argument` as PSCI says.
Result<> cpu_on(u64 mpidr, PhysAddr entry, u64 context);

/// PSCI SYSTEM_OFF. QEMU's exit status is then 0. Falls back to halting this CPU.
[[noreturn]] void system_off();
/// Ends QEMU with `status` by semihosting SYS_EXIT_EXTENDED; without semihosting, as `system_off`.
/// A non-zero status where only PSCI is there: the report on the console is the only sign.
[[noreturn]] void exit_with_status(unsigned status);

}  // namespace atl::arch
