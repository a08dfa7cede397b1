// Seam: PSCI calls and the ways to end the machine. Any context.
#pragma once

#include "arch-arm64/psci.hpp"
#include "lib/address.hpp"
#include "lib/result.hpp"

namespace atl::arch {

/// How PSCI is reached.
enum class PsciConduit : u8 { none, hvc, smc };
constexpr const char* to_string(PsciConduit conduit) {
  return conduit == PsciConduit::hvc ? "hvc" : conduit == PsciConduit::smc ? "smc" : "nothing";
}

/// PSCI_VERSION through `conduit`, whichever is in use. An error if there is no PSCI behind it: `not_supported` where
/// the instruction is undefined, or answered by something else. An SMC that ends in an EL3 without firmware does not
/// come back; an HVC always does (hw/el2.S).
Result<psci::Version> psci_version(PsciConduit conduit);
/// Asks for the version, and if there is one uses `conduit` from now on. Until then, or after a failure, every call
/// fails with `not_supported`. Boot CPU, once, with vectors.
Result<psci::Version> firmware_init(PsciConduit conduit);
/// The one in use.
PsciConduit firmware_conduit();

/// PSCI CPU_ON (64-bit). Returns at once; the CPU starts at `entry` with `context` in x0, MMU off.
/// `already_exists` = ALREADY_ON or ON_PENDING, `denied`, `invalid_argument` as PSCI says.
Result<> cpu_on(u64 mpidr, PhysAddr entry, u64 context);

/// PSCI SYSTEM_OFF. QEMU's exit status is then 0. Falls back to halting this CPU.
[[noreturn]] void system_off();
/// Ends QEMU with `status` by semihosting SYS_EXIT_EXTENDED; without semihosting, as `system_off`.
/// A non-zero status where only PSCI is there: the report on the console is the only sign.
[[noreturn]] void exit_with_status(unsigned status);

}  // namespace atl::arch
