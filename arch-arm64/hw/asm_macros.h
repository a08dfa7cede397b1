// Assembler macros shared by the .S files.
#pragma once

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
.endm

.macro end_function name:req
  .size \name, . - \name
.endm
