// Where every CPU enters: Image header, down to EL1, granule check, MMU on, jump to the virtual address.
//
// Until the MMU is on everything runs at its physical address: addresses come from adrp, or, for the two
// virtual ones, from literals. The boot protocol is Linux's: x0 = device tree, MMU and data cache off.
#include "arch-arm64/hw/asm_macros.h"
#include "asm_constants.h"

// SCTLR_EL1.M, C, SA, I.
#define SCTLR_MMU_ON ((1 << 0) | (1 << 2) | (1 << 3) | (1 << 12))

// Entries begin with this: whatever the loader left, nothing interrupts a CPU that has no vectors, and SP is
// the one that the vectors expect. tools/check_sequences.py holds it.
.macro mask_everything
  msr daifset, #0xf
  msr spsel, #1
.endm

  .section .head.text, "ax"
  .globl _start
_start:
  b primary_entry
  .long 0
  .quad 0                 // text_offset: from a 2 MiB boundary, which flag bit 3 lets be any
  .quad __image_bytes     // with BSS and early tables
  .quad IMAGE_FLAGS
  .quad 0, 0, 0
  .ascii "ARM\x64"
  .long 0

function primary_entry
  outermost
  mask_everything
  mov x19, x0

  // The loader cleans what it loads to the point of coherency, and nothing else. A line of our BSS that it left
  // dirty would be evicted some time after we have written there with the cache off, on top of what we wrote.
  // So those lines leave the cache before the first store; and the rest of the image, in case that caches and MMU
  // are on against the protocol, before drop_to_el1 turns them off.
  adr_l x0, _start
  bl clean_image_from

  mrs x0, CurrentEL
  cmp x0, #(3 << 2)
  b.eq stop_at_el3
  bl drop_to_el1
  isb
  mrs x20, cntvct_el0

  adr_l x0, __boot_stack_top
  mov sp, x0
  mov x29, xzr

  // Read-only data comes with the image; BSS is ours to clear. Both are multiples of 16 bytes.
  adr_l x0, __bss_start
  adr_l x1, __bss_end
0:
  cmp x0, x1
  b.hs 1f
  stp xzr, xzr, [x0], #16
  b 0b
1:
  // CPU 0's static unit from the template, so that per-CPU variables work from the first C++ line on.
  adr_l x0, __boot_unit
  adr_l x1, __percpu_template
  adr_l x2, __percpu_template_end
2:
  cmp x1, x2
  b.hs 3f
  ldp x3, x4, [x1], #16
  stp x3, x4, [x0], #16
  b 2b
3:
  mrs x0, id_aa64mmfr0_el1
  bl early_require_granule // prints and stops if this CPU cannot run the image
  mrs x0, id_aa64mmfr0_el1
  bl early_map_kernel      // x0: EarlyRoots, or 0
  cbz x0, early_stop_without_tables
  ldp x21, x22, [x0]       // identity root, boot root
  ldr x23, [x0, #16]       // TCR

  // What was written with the cache off must not be shadowed by a line that a speculative access has brought
  // in since. Such a line is clean, so nothing is written back over it.
  adr_l x0, __data_start
  bl clean_image_from

  adr_l x24, _start
  mov x0, x21
  mov x1, x22
  mov x2, x23
  bl enable_mmu
  ldr x8, =primary_virtual
  br x8

// Where there is no firmware every CPU may come here, all at once and before exclusive accesses work. Of those that
// find `speaker` empty the last to sign it speaks; the delay lets the others do so (Fischer's mutual exclusion).
stop_at_el3:
  adr_l x0, speaker
  ldr x1, [x0]
  cbnz x1, park
  mrs x1, mpidr_el1
  orr x1, x1, #(1 << 31)        // never 0
  str x1, [x0]
  dsb sy
  mov x2, #(1 << 24)
4:
  subs x2, x2, #1
  b.ne 4b
  ldr x2, [x0]
  cmp x1, x2
  b.ne park
  adr_l x0, __boot_stack_top
  mov sp, x0
  b early_stop_at_el3
end_function primary_entry

  .pushsection .data, "aw"
  .balign 8
speaker:
  .quad 0
  .popsection

// With context_id in x0: the physical address of this CPU's SecondaryBoot.
function secondary_entry
  outermost
  mask_everything
  mov x19, x0
  bl drop_to_el1
  add sp, x19, #SECONDARY_BYTES   // its early stack ends the structure
  mov x29, xzr
  mrs x0, id_aa64mmfr0_el1
  bl early_granule_supported
  cbnz w0, 0f
  mov w1, #SECONDARY_STATUS_NO_GRANULE
  str w1, [x19, #SECONDARY_STATUS]
  dsb sy
  b park
0:
  ldr x0, [x19, #SECONDARY_IDENTITY_ROOT]
  ldr x1, [x19, #SECONDARY_OWN_ROOT]
  ldr x2, [x19, #SECONDARY_TCR]
  ldr x20, [x19, #SECONDARY_STACK_TOP]
  ldr x21, [x19, #SECONDARY_PERCPU_OFFSET]
  ldr x22, [x19, #SECONDARY_CPU]
  bl enable_mmu
  ldr x8, =secondary_virtual
  br x8
end_function secondary_entry

// x0 = TTBR0 (identity map), x1 = TTBR1, x2 = TCR. Returns to the same physical address, MMU and caches on.
function enable_mmu
  tlbi vmalle1                  // nothing that firmware left, on this CPU
  dsb nsh
  ldr x3, =MAIR_VALUE
  msr mair_el1, x3
  msr tcr_el1, x2
  msr ttbr0_el1, x0
  msr ttbr1_el1, x1
  msr cpacr_el1, xzr            // FP and SIMD trap, but for the one device-tree parse
  isb
  mrs x3, sctlr_el1             // as drop_to_el1 left it
  mov x4, #SCTLR_MMU_ON
  orr x3, x3, x4
  msr sctlr_el1, x3
  isb
  ic iallu                      // instructions fetched with the MMU off
  dsb nsh
  isb
  ret
end_function enable_mmu

// Cleans and invalidates the image from x0 on, BSS and early tables included, to the point of coherency. Both ends
// are multiples of 64 KiB, more than any line, so no line reaches beyond them. Clobbers x0 to x3.
function clean_image_from
  adr_l x1, __image_end
  mrs x2, ctr_el0
  ubfx x2, x2, #16, #4          // DminLine: log2 of words
  mov x3, #4
  lsl x3, x3, x2
0:
  dc civac, x0
  add x0, x0, x3
  cmp x0, x1
  b.lo 0b
  dsb sy
  ret
end_function clean_image_from

function park
  msr daifset, #0xf
  dsb sy                        // what it stored last is complete, however long it waits
0:
  wfi
  b 0b
end_function park

  .text
function primary_virtual
  outermost
  adr_l x0, __boot_stack_top
  mov sp, x0
  ldr x0, =BOOT_PERCPU_OFFSET
  msr tpidr_el1, x0
  mov x29, xzr
  mov x30, xzr
  mov x0, x19                   // device tree
  mov x1, x24                   // physical address of _start
  mov x2, x20                   // counter at entry
  bl kernel_main
  b park
end_function primary_virtual

function secondary_virtual
  outermost
  mov sp, x20
  msr tpidr_el1, x21
  mov x29, xzr
  mov x30, xzr
  mov x0, x22
  bl secondary_main
  b park
end_function secondary_virtual

// run_on_stack(x0 = top, x1 = function): calls the function on another stack, for good.
function run_on_stack
  outermost
  mov sp, x0
  mov x29, xzr
  mov x30, xzr
  blr x1
  b park
end_function run_on_stack
