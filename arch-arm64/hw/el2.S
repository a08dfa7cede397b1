// What EL2 is to a kernel of EL1: left at once, without a trap, and never silent. On every CPU.
#include "arch-arm64/hw/asm_macros.h"
#include "asm_constants.h"

// EL1 is AArch64; pointer authentication (APK, API) and allocation tags (ATA) are its own. Where a CPU has none of
// these, the bits are RES0.
#define HCR_VALUE ((1 << 31) | (1 << 40) | (1 << 41) | (1 << 56))
#define HCR_E2H 34
// SCTLR_EL1 and SCTLR_EL2: the bits that are RES1 on ARMv8.0 (Arm ARM D17.2.118, D17.2.119). MMU and caches off.
#define SCTLR_EL1_RES1 0x30d00800
#define SCTLR_EL2_RES1 0x30c50830
// EL1h with D, A, I, F masked.
#define SPSR_EL1H 0x3c5
// PSTATE.IL, and ESR_ELx.EC of an HVC from AArch64.
#define SPSR_IL (1 << 20)
#define EC_HVC 0x16

  .section .idmap.text, "ax"

// Leaves EL2, if entered there, for EL1, and turns the MMU off: a loader that left it on has mapped us where we lie,
// or would not have got here. Returns at EL1h with everything masked. Clobbers x0 to x2.
function drop_to_el1
  ldr x1, =SCTLR_EL1_RES1
  mrs x0, CurrentEL
  cmp x0, #(2 << 2)
  b.hi park                     // EL3, which CPU_ON never enters at; the boot CPU has been stopped before
  b.eq 0f
  msr sctlr_el1, x1
  isb
  ret
0:
  adr_l x0, el2_vectors         // before all that could be undefined here
  msr vbar_el2, x0
  ldr x0, =SCTLR_EL2_RES1       // while HCR_EL2 still says whose tables these are
  msr sctlr_el2, x0
  isb
  // HCR_EL2 next: as long as E2H is set, `sctlr_el1` names SCTLR_EL2 here, and CPTR_EL2 has another format.
  ldr x0, =HCR_VALUE
  msr hcr_el2, x0
  isb
  mrs x0, hcr_el2
  tbnz x0, #HCR_E2H, 1f         // it stays set where there is nothing else (no FEAT_E2H0)
  msr sctlr_el1, x1
  mov x0, #0x33ff               // CPTR_EL2: the RES1 bits; SVE and SME trap at EL1 first, by CPACR_EL1
  b 2f
1:
  msr s3_5_c1_c0_0, x1          // SCTLR_EL12
  mov x0, #(3 << 20)            // CPTR_EL2.FPEN: no trap of FP and SIMD
2:
  msr cptr_el2, x0
  mov x0, #0xc03                // CNTHCTL_EL2: EL1 may use physical counter and timer (E2H: bits 11:10, else 1:0)
  msr cnthctl_el2, x0
  msr cntvoff_el2, xzr
  msr hstr_el2, xzr
  msr vttbr_el2, xzr
  mrs x0, mdcr_el2
  and x0, x0, #0x1f             // MDCR_EL2.HPMN stays: all event counters are EL1's
  msr mdcr_el2, x0
  mrs x0, midr_el1
  msr vpidr_el2, x0
  mrs x0, mpidr_el1
  msr vmpidr_el2, x0

  mrs x0, id_aa64mmfr1_el1
  ubfx x0, x0, #40, #4          // FEAT_HCX: without what HCRX_EL2 enables EL1 is as before it
  cbz x0, 3f
  msr s3_4_c1_c2_2, xzr         // HCRX_EL2
3:
  mrs x0, id_aa64mmfr0_el1
  ubfx x0, x0, #56, #4          // FEAT_FGT: no fine-grained trap
  cbz x0, 4f
  msr s3_4_c1_c1_4, xzr         // HFGRTR_EL2
  msr s3_4_c1_c1_5, xzr         // HFGWTR_EL2
  msr s3_4_c1_c1_6, xzr         // HFGITR_EL2
  msr s3_4_c3_c1_4, xzr         // HDFGRTR_EL2
  msr s3_4_c3_c1_5, xzr         // HDFGWTR_EL2
4:
  mrs x0, id_aa64pfr0_el1
  ubfx x0, x0, #24, #4          // GIC system registers
  cbz x0, 5f
  mrs x0, s3_4_c12_c9_5         // ICC_SRE_EL2: SRE and Enable, so that EL1 may use them
  mov x1, #9
  orr x0, x0, x1
  msr s3_4_c12_c9_5, x0
  isb
  mrs x0, s3_4_c12_c9_5
  tbz x0, #0, 5f                // SRE does not stick on a CPU with its GIC in another mode; ICH_* are undefined then
  msr s3_4_c12_c11_0, xzr       // ICH_HCR_EL2
5:
  mov x0, #SPSR_EL1H
  msr spsr_el2, x0
  msr elr_el2, x30
  eret
end_function drop_to_el1

// Nobody else lives at EL2, so an HVC comes here, with the MMU off at this level. It is no call of any firmware, and
// says so as the SMC calling convention has it. What EL2 itself takes, the first half, is a fault of drop_to_el1.
  .balign 2048
function el2_vectors
  .rept 8
  .balign 128
  b park
  .endr
  .rept 8
  .balign 128
  b answer
  .endr
answer:
  msr tpidr_el2, x0
  mrs x0, esr_el2
  lsr x0, x0, #26
  cmp x0, #EC_HVC
  b.ne 0f
  mov x0, #EL2_ANSWER
  eret
0:
  // A trap that is still set: an instruction that this CPU has and drop_to_el1 does not know of. It is executed again
  // in the illegal execution state, which EL1 gets as an exception of that very instruction.
  mrs x0, spsr_el2
  orr x0, x0, #SPSR_IL
  msr spsr_el2, x0
  mrs x0, tpidr_el2
  eret
end_function el2_vectors
