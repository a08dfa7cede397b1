// Assembler macros shared by the .S files.
#pragma once

// For debuggers only: nothing of it is loaded.
.cfi_sections .debug_frame

// The address of `symbol`, relative to the PC: physical with the MMU off, virtual with it on.
.macro adr_l register:req, symbol:req
  adrp \register, \symbol
  add \register, \register, :lo12:\symbol
.endm

.macro function name:req
  .globl \name
  .type \name, %function
  .balign 4
\name:
  .cfi_startproc
.endm

// Where call chains begin: x29 is 0 and nobody is to be returned to, whatever x30 holds.
.macro outermost
  .cfi_undefined x30
.endm

.macro end_function name:req
  .cfi_endproc
  .size \name, . - \name
.endm
