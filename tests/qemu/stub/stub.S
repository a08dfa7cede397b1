// A loader that does only what it is told: x0 = the first word at _arguments, then a jump to the second. QEMU
// puts the two words there, the kernel's Image and the device tree wherever a test wants them
// (tests/qemu/machine.py). So a test decides on every byte that the kernel gets, which QEMU's own loader does not
// allow: it edits the tree that it is given.

        .section .head, "ax"
        .global _start
_start:
        ldr     x9, =_arguments
        ldp     x0, x9, [x9]
        mov     x1, xzr                 // x1 to x3 are zero by the boot protocol
        mov     x2, xzr
        mov     x3, xzr
        br      x9
