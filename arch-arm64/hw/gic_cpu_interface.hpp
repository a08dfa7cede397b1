// The GICv3 CPU interface: ICC_* system registers, by encoding because not every assembler has the names.
#pragma once

#include "arch-arm64/hw/sysreg.hpp"

namespace atl::arch::gic::cpu_interface {

/// On each CPU: system registers on, every priority let through, EOI also deactivates, Group 1 enabled.
/// Where EL2 exists it has set ICC_SRE_EL2.Enable (hw/head.S).
inline void enable() {
  // ICC_SRE_EL1.SRE.
  ATOLL_WRITE_SYSREG("S3_0_C12_C12_5", ATOLL_READ_SYSREG("S3_0_C12_C12_5") | 1);
  asm volatile("isb" ::: "memory");
  ATOLL_WRITE_SYSREG("S3_0_C4_C6_0", 0xff);  // ICC_PMR_EL1
  ATOLL_WRITE_SYSREG("S3_0_C12_C12_3", 0);   // ICC_BPR1_EL1: all of the priority counts for preemption
  ATOLL_WRITE_SYSREG("S3_0_C12_C12_4", 0);   // ICC_CTLR_EL1: EOImode 0
  ATOLL_WRITE_SYSREG("S3_0_C12_C9_0", 0);    // ICC_AP1R0_EL1: nothing is active, whatever ran here before
  ATOLL_WRITE_SYSREG("S3_0_C12_C12_7", 1);   // ICC_IGRPEN1_EL1
  asm volatile("isb" ::: "memory");
}

/// ICC_IAR1_EL1. The DSB makes the acknowledgement's effect, and what an SGI's sender stored, visible to
/// what follows, also when no new exception lies between.
inline u32 acknowledge() {
  const u64 token = ATOLL_READ_SYSREG("S3_0_C12_C12_0");
  asm volatile("dsb sy" ::: "memory");
  return static_cast<u32>(token);
}

/// ICC_EOIR1_EL1.
inline void end_of_interrupt(u32 token) {
  ATOLL_WRITE_SYSREG("S3_0_C12_C12_1", token);
  asm volatile("isb" ::: "memory");
}

/// ICC_SGI1R_EL1. Stores before it are visible to the CPUs that it interrupts.
inline void send_sgi(u64 value) {
  asm volatile("dsb ishst" ::: "memory");
  ATOLL_WRITE_SYSREG("S3_0_C12_C11_5", value);
  asm volatile("isb" ::: "memory");
}

}  // namespace atl::arch::gic::cpu_interface
