// arch/firmware.hpp on the machine: PSCI by HVC or SMC, and QEMU's semihosting.
#include "arch/firmware.hpp"

#include <array>

#include "arch-arm64/hw/fixup.hpp"
#include "arch-arm64/psci.hpp"
#include "arch/cpu.hpp"
#include "lib/format.hpp"

namespace atl::arch {
namespace {

constinit PsciConduit psci_conduit = PsciConduit::none;

/// An undefined instruction is no firmware's, and answers as one without the function would. Up to SMCCC 1.0 the callee
/// may clobber x4 .. x17 (Arm DEN 0028).
#define ATOLL_FIRMWARE_CALL(instruction)                                                                     \
  asm volatile("0: " instruction                                                                             \
               " #0\n"                                                                                       \
               "   b 2f\n"                                                                                   \
               "1: mov x0, %[not_supported]\n"                                                               \
               "2:\n" ATOLL_FIXUP("0b", "1b")                                                                \
               : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)                                                      \
               : [not_supported] "i"(psci::kNotSupported)                                                    \
               : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", \
                 "memory")

/// What x0 holds afterwards.
u64 psci_call(PsciConduit conduit, u64 function, u64 argument1 = 0, u64 argument2 = 0, u64 argument3 = 0) {
  register u64 x0 asm("x0") = function;
  register u64 x1 asm("x1") = argument1;
  register u64 x2 asm("x2") = argument2;
  register u64 x3 asm("x3") = argument3;
  switch (conduit) {
    case PsciConduit::none: return static_cast<u64>(psci::kNotSupported);
    case PsciConduit::hvc: ATOLL_FIRMWARE_CALL("hvc"); break;
    case PsciConduit::smc: ATOLL_FIRMWARE_CALL("smc"); break;
  }
  return x0;
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
      "1:\n" ATOLL_FIXUP("0b", "1b")
      : "+r"(x0)
      : "r"(x1)
      : "memory");
}

}  // namespace

Result<psci::Version> psci_version(PsciConduit conduit) {
  return psci::to_version(psci_call(conduit, psci::kVersion));
}

Result<psci::Version> firmware_init(PsciConduit conduit) {
  const psci::Version version = TRY(psci_version(conduit));
  psci_conduit = conduit;
  return version;
}

PsciConduit firmware_conduit() { return psci_conduit; }

Result<> cpu_on(u64 mpidr, PhysAddr entry, u64 context) {
  return psci::to_result(psci_call(psci_conduit, psci::kCpuOn, mpidr, entry.value(), context));
}

void system_off() {
  psci_call(psci_conduit, psci::kSystemOff);
  // No PSCI, or one that comes back. After exit_with_status this comes too late to change the status.
  semihosting_exit(0);
  print("firmware: no way to power off; halted\n");
  halt();
}

void exit_with_status(unsigned status) {
  semihosting_exit(status);
  system_off();
}

}  // namespace atl::arch
