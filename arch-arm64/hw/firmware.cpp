// arch/firmware.hpp on the machine: PSCI by HVC or SMC, and QEMU's semihosting.
#include "arch/firmware.hpp"

#include <array>

#include "arch-arm64/psci.hpp"
#include "arch/cpu.hpp"
#include "lib/format.hpp"

namespace atl::arch {
namespace {

constinit PsciConduit psci_conduit = PsciConduit::none;

/// Up to SMCCC 1.0 the callee may clobber x4 .. x17 (Arm DEN 0028).
#define ATOLL_FIRMWARE_CALL(instruction)                                                                 \
  asm volatile(instruction                                                                               \
               : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)                                                  \
               :                                                                                         \
               : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", \
                 "memory")

Result<> psci_call(u64 function, u64 argument1 = 0, u64 argument2 = 0, u64 argument3 = 0) {
  register u64 x0 asm("x0") = function;
  register u64 x1 asm("x1") = argument1;
  register u64 x2 asm("x2") = argument2;
  register u64 x3 asm("x3") = argument3;
  switch (psci_conduit) {
    case PsciConduit::none: return fail(Error::not_supported);
    case PsciConduit::hvc: ATOLL_FIRMWARE_CALL("hvc #0"); break;
    case PsciConduit::smc: ATOLL_FIRMWARE_CALL("smc #0"); break;
  }
  return psci::to_result(x0);
}

/// SYS_EXIT_EXTENDED ends QEMU. Where nobody implements semihosting HLT is undefined, and the fixup goes on
/// after it.
void semihosting_exit(unsigned status) {
  constexpr u64 kSysExitExtended = 0x20;
  constexpr u64 kApplicationExit = 0x20026;
  const std::array<u64, 2> block{kApplicationExit, status};
  register u64 x0 asm("x0") = kSysExitExtended;
  register const u64* x1 asm("x1") = block.data();
  asm volatile(
      "0: hlt #0xf000\n"
      "1:\n"
      ".pushsection .fixup_table, \"a\"\n"
      ".balign 8\n"
      ".quad 0b, 1b\n"
      ".popsection"
      : "+r"(x0)
      : "r"(x1)
      : "memory");
}

}  // namespace

void firmware_init(PsciConduit conduit) { psci_conduit = conduit; }

Result<> cpu_on(u64 mpidr, PhysAddr entry, u64 context) {
  return psci_call(psci::kCpuOn, mpidr, entry.value(), context);
}

void system_off() {
  static_cast<void>(psci_call(psci::kSystemOff));
  // No PSCI, or one that refuses. After exit_with_status this comes too late to change the status.
  semihosting_exit(0);
  print("firmware: no way to power off; halted\n");
  halt();
}

void exit_with_status(unsigned status) {
  semihosting_exit(status);
  system_off();
}

}  // namespace atl::arch
