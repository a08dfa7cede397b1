// The floor of boot time: starts every CPU by PSCI CPU_ON, back to back, and powers off once each
// has counted itself. Nothing else: no MMU, no console, no device tree. What the kernel's "all CPUs
// online" is measured against (tests/qemu/boot_time.py).
//
// Entered like the kernel (arm64 Image header, direct or through U-Boot), at EL1, PSCI over hvc.

#define PSCI_CPU_ON      0xc4000003
#define PSCI_SYSTEM_OFF  0x84000008

        .section .head, "ax"
        .global _start
_start:
        b       start_all
        .long   0
        .quad   0                       // text_offset
        .quad   _image_size
        .quad   0b1010                  // little-endian, 4K pages, may be placed anywhere
        .quad   0, 0, 0
        .ascii  "ARM\x64"
        .long   0

// CPUs outstanding: each secondary takes one off, the boot CPU adds how many it has started. It goes
// below zero until the boot CPU's turn, so whoever brings it *to* zero knows that all have come and
// nobody has to spin: under TCG a spinner would take host time from the CPUs it waits for.
start_all:
        mov     x19, #0                 // CPUs started
        mov     x20, #1                 // number of the next CPU
1:      and     x1, x20, #0xf           // QEMU virt with GICv3: Aff0 is 0..15, Aff1 the cluster
        lsr     x2, x20, #4
        orr     x1, x1, x2, lsl #8
        ldr     x0, =PSCI_CPU_ON
        adr     x2, secondary
        mov     x3, #0
        hvc     #0
        cbnz    x0, 2f                  // INVALID_PARAMETERS: there is no such CPU, all are started
        add     x19, x19, #1
        add     x20, x20, #1
        b       1b
2:      b       count

secondary:
        mov     x19, #-1
count:
        adr     x4, outstanding
3:      ldaxr   x5, [x4]
        add     x5, x5, x19
        stlxr   w6, x5, [x4]
        cbnz    w6, 3b
        cbnz    x5, 4f
        ldr     w0, =PSCI_SYSTEM_OFF
        hvc     #0
4:      wfi
        b       4b

        .ltorg
        .balign 8
outstanding:
        .quad   0
