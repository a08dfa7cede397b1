// From one TTBR1 root to another on a running CPU (docs/architecture.md, "Per-CPU roots").
#include "arch-arm64/hw/asm_macros.h"

  // Identity-mapped: this runs at its physical address, because between the two roots TTBR1 maps nothing.
  .section .idmap.text, "ax"

// switch_root(x0 = zero root, x1 = own root), both physical. Touches no memory. SError and debug exceptions
// are masked as well, since their vectors are not mapped meanwhile.
//
// The roots may map the same address by blocks of different sizes. Were both live one after the other, the
// TLB could hold both, which is a break-before-make violation (Arm ARM D8.14.1). So: nothing is translated
// by TTBR1, then nothing is cached of it, and only then the new root. The local flush is enough: no other
// CPU runs yet that could hold entries of the boot root, and CnP = 0 keeps this CPU's to itself.
function switch_root
  mrs x2, daif
  msr daifset, #0xf
  msr ttbr1_el1, x0
  isb
  tlbi vmalle1
  dsb nsh
  isb
  msr ttbr1_el1, x1
  isb
  msr daif, x2
  ret
end_function switch_root
