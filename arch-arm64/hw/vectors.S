// The 16 exception vectors: test the stack, save a TrapFrame, call trap_dispatch, restore, return.
#include "arch-arm64/hw/asm_macros.h"
#include "asm_constants.h"

// One vector. The stack test must not push (a push onto an overflowed stack would fault here, again and
// again) and has no register to spare, so SP itself holds the second value: with s the interrupted SP less
// a frame and v the interrupted x0,
//   SP = s + v;  x0 = SP - v = s;  test;  x0 = SP - s = v;  SP = SP - v = s.
// Stacks lie in the upper half of a slot twice their size, so s is inside iff its bit STACK_SHIFT is set.
.macro vector kind
  .balign 128
  sub sp, sp, #TRAP_FRAME_BYTES
  add sp, sp, x0
  sub x0, sp, x0
  tbz x0, #STACK_SHIFT, overflow_\kind
  sub x0, sp, x0
  sub sp, sp, x0
  stp x0, x1, [sp, #TRAP_X]
  stp x2, x3, [sp, #TRAP_X + 16]
  mov w1, #\kind
  add x2, sp, #TRAP_FRAME_BYTES
  mov w3, #0
  b save_and_dispatch
.endm

.macro four_vectors
  vector TRAP_SYNCHRONOUS
  vector TRAP_IRQ
  vector TRAP_FIQ
  vector TRAP_SERROR
.endm

  .section .vectors, "ax"
  .balign 2048
function exception_vectors
  four_vectors    // EL1 with SP_EL0: the kernel never runs so, trap_dispatch reports it
  four_vectors    // EL1 with SP_EL1: the kernel
  four_vectors    // EL0, AArch64
  four_vectors    // EL0, AArch32
  .org exception_vectors + 0x800  // an error if a vector outgrew its 128 bytes and moved the others
end_function exception_vectors

// The rest stays in this section: a TBZ reaches 32 KiB.

// Reached with SP = s + v and x0 = s, where s is below its stack, or on the emergency stack, which has no
// slot. TPIDRRO_EL0 and TPIDR_EL0 keep s and v: EL0's values are lost, but nothing returns to EL0 from here.
// A fault while already on the emergency stack (in the report of the first one, say) stays there: starting
// from its top again would overwrite the frame of the first.
.macro overflow kind
overflow_\kind:
  msr tpidrro_el0, x0
  sub x0, sp, x0
  msr tpidr_el0, x0
  adr_l x0, percpu_emergency_stack_top
  mov sp, x0
  mrs x0, tpidr_el1
  add sp, sp, x0                      // this CPU's, by its global alias
  mrs x0, tpidrro_el0
  sub x0, sp, x0                      // how far below its top s is
  lsr x0, x0, #EMERGENCY_STACK_SHIFT
  cbz x0, 0f
  sub sp, sp, #TRAP_FRAME_BYTES
  mov w0, #1
  b 1f
0:
  mrs x0, tpidrro_el0
  mov sp, x0
  mov w0, #0
1:
  str x1, [sp, #TRAP_X + 8]
  stp x2, x3, [sp, #TRAP_X + 16]
  mov w1, #\kind
  mov w3, w0
  b save_after_overflow
.endm

  overflow TRAP_SYNCHRONOUS
  overflow TRAP_IRQ
  overflow TRAP_FIQ
  overflow TRAP_SERROR

save_after_overflow:
  mrs x0, tpidr_el0
  str x0, [sp, #TRAP_X]
  mrs x2, tpidrro_el0
  add x2, x2, #TRAP_FRAME_BYTES
  // Falls through.

// SP = the frame, x0 .. x3 saved; w1 = TrapKind, x2 = the interrupted SP, w3 = whether the stack overflowed.
function save_and_dispatch
  stp x4, x5, [sp, #TRAP_X + 32]
  stp x6, x7, [sp, #TRAP_X + 48]
  stp x8, x9, [sp, #TRAP_X + 64]
  stp x10, x11, [sp, #TRAP_X + 80]
  stp x12, x13, [sp, #TRAP_X + 96]
  stp x14, x15, [sp, #TRAP_X + 112]
  stp x16, x17, [sp, #TRAP_X + 128]
  stp x18, x19, [sp, #TRAP_X + 144]
  stp x20, x21, [sp, #TRAP_X + 160]
  stp x22, x23, [sp, #TRAP_X + 176]
  stp x24, x25, [sp, #TRAP_X + 192]
  stp x26, x27, [sp, #TRAP_X + 208]
  stp x28, x29, [sp, #TRAP_X + 224]
  stp x30, x2, [sp, #TRAP_X + 240]    // and sp
  mrs x4, elr_el1
  mrs x5, spsr_el1
  mrs x6, esr_el1
  mrs x7, far_el1
  stp x4, x5, [sp, #TRAP_ELR]         // and spsr
  stp x6, x7, [sp, #TRAP_ESR]         // and far
  // A frame record as if the interrupted instruction had called us: backtraces cross the exception.
  stp x29, x4, [sp, #TRAP_RECORD]
  add x29, sp, #TRAP_RECORD
  mov x0, sp
  mov w2, w3
  bl trap_dispatch

// Here everything of the interrupted code is in the frame at SP, and nothing else is on the stack above it:
// the place where a thread that ought to yield can be switched away from.
trap_return:
  msr daifset, #0xf                   // ELR_EL1 and SPSR_EL1 are ours until the ERET
  ldp x3, x4, [sp, #TRAP_ELR]
  msr elr_el1, x3
  msr spsr_el1, x4
  ldp x0, x1, [sp, #TRAP_X]
  ldp x2, x3, [sp, #TRAP_X + 16]
  ldp x4, x5, [sp, #TRAP_X + 32]
  ldp x6, x7, [sp, #TRAP_X + 48]
  ldp x8, x9, [sp, #TRAP_X + 64]
  ldp x10, x11, [sp, #TRAP_X + 80]
  ldp x12, x13, [sp, #TRAP_X + 96]
  ldp x14, x15, [sp, #TRAP_X + 112]
  ldp x16, x17, [sp, #TRAP_X + 128]
  ldp x18, x19, [sp, #TRAP_X + 144]
  ldp x20, x21, [sp, #TRAP_X + 160]
  ldp x22, x23, [sp, #TRAP_X + 176]
  ldp x24, x25, [sp, #TRAP_X + 192]
  ldp x26, x27, [sp, #TRAP_X + 208]
  ldp x28, x29, [sp, #TRAP_X + 224]
  ldr x30, [sp, #TRAP_X + 240]
  add sp, sp, #TRAP_FRAME_BYTES
  eret
end_function save_and_dispatch
