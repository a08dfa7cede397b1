// The GICv3 CPU interface: ICC_* system registers, by encoding because not every assembler has the names.
#pragma once

#include "arch-arm64/gic_registers.hpp"
#include "arch-arm64/hw/sysreg.hpp"

namespace atl::arch::gic::v3::cpu_interface {

/// ICC_SRE_EL1.SRE, before all else here. Where EL2 exists it has set ICC_SRE_EL2.Enable (hw/el2.S).
inline void use_system_registers() {
  ATOLL_WRITE_SYSREG("S3_0_C12_C12_5", ATOLL_READ_SYSREG("S3_0_C12_C12_5") | 1);
  asm volatile("isb" ::: "memory");
}

/// Whether EL3 keeps Group 0, and with it FIQs, to itself (SCR_EL3.FIQ), where the registers of Group 0 trap. It shows
/// in ICC_PMR_EL1: a Non-secure access then sees the lower half of the priorities, shifted left by one. So the least
/// priority bit that exists is beyond what is stored, and reads as zero. IRQs masked, the CPU interface not enabled.
inline bool group0_is_kept() {
  const u64 control = ATOLL_READ_SYSREG("S3_0_C12_C12_4");  // ICC_CTLR_EL1
  const unsigned priority_bits = (control >> 8 & 7) + 1;    // PRIbits
  ATOLL_WRITE_SYSREG("S3_0_C4_C6_0", 0x100 >> priority_bits);
  asm volatile("isb" ::: "memory");
  return ATOLL_READ_SYSREG("S3_0_C4_C6_0") == 0;
}

/// On each CPU: every priority let through, EOI also deactivates, nothing is active whatever ran here before, all of
/// the priority counts for preemption.
inline void enable(bool group0) {
  ATOLL_WRITE_SYSREG("S3_0_C4_C6_0", 0xff);  // ICC_PMR_EL1
  ATOLL_WRITE_SYSREG("S3_0_C12_C12_4", 0);   // ICC_CTLR_EL1: EOImode 0, a binary point for each group
  ATOLL_WRITE_SYSREG("S3_0_C12_C12_3", 0);   // ICC_BPR1_EL1
  ATOLL_WRITE_SYSREG("S3_0_C12_C9_0", 0);    // ICC_AP1R0_EL1
  if (group0) {
    ATOLL_WRITE_SYSREG("S3_0_C12_C8_3", 0);   // ICC_BPR0_EL1
    ATOLL_WRITE_SYSREG("S3_0_C12_C8_4", 0);   // ICC_AP0R0_EL1
    ATOLL_WRITE_SYSREG("S3_0_C12_C12_6", 1);  // ICC_IGRPEN0_EL1
  }
  ATOLL_WRITE_SYSREG("S3_0_C12_C12_7", 1);  // ICC_IGRPEN1_EL1
  asm volatile("isb" ::: "memory");
}

/// No priority is let through.
inline void mask_all() {
  ATOLL_WRITE_SYSREG("S3_0_C4_C6_0", 0);  // ICC_PMR_EL1
  asm volatile("isb" ::: "memory");
}

/// ICC_IAR0_EL1 or ICC_IAR1_EL1. The DSB makes the acknowledgement's effect, and what an SGI's sender stored, visible
/// to what follows, also when no new exception lies between.
inline u32 acknowledge(Group group) {
  u64 token;
  if (group == Group::fiq) {
    token = ATOLL_READ_SYSREG("S3_0_C12_C8_0");
  } else {
    token = ATOLL_READ_SYSREG("S3_0_C12_C12_0");
  }
  asm volatile("dsb sy" ::: "memory");
  return static_cast<u32>(token);
}

/// ICC_EOIR0_EL1 or ICC_EOIR1_EL1.
inline void end_of_interrupt(Group group, u32 token) {
  if (group == Group::fiq) {
    ATOLL_WRITE_SYSREG("S3_0_C12_C8_1", token);
  } else {
    ATOLL_WRITE_SYSREG("S3_0_C12_C12_1", token);
  }
  asm volatile("isb" ::: "memory");
}

/// ICC_SGI0R_EL1 or ICC_SGI1R_EL1. Stores before it are visible to the CPUs that it interrupts.
inline void send_sgi(Group group, u64 value) {
  asm volatile("dsb ishst" ::: "memory");
  if (group == Group::fiq) {
    ATOLL_WRITE_SYSREG("S3_0_C12_C11_7", value);
  } else {
    ATOLL_WRITE_SYSREG("S3_0_C12_C11_5", value);
  }
  asm volatile("isb" ::: "memory");
}

}  // namespace atl::arch::gic::v3::cpu_interface
