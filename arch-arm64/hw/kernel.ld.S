/* The kernel image. Everything but `.percpu` is linked where it runs; `.percpu` is linked at the
 * local window, and its pristine template travels inside the image. Segments are aligned to 64 KiB at
 * every page size, so that they can be mapped with their own permissions.
 *
 * The image runs wherever it is loaded. The load addresses are for loaders of ELF files, which go by them
 * (QEMU -kernel): one distance below the virtual addresses for all sections, `.percpu`'s template included. */
#include "asm_constants.h"

#define SEGMENT_ALIGN 0x10000
#define LOADED(address) ((address) - IMAGE_BASE + ELF_LOAD_ADDRESS)

ENTRY(_start)

PHDRS
{
  text PT_LOAD FLAGS(5);
  rodata PT_LOAD FLAGS(4);
  percpu PT_LOAD FLAGS(6);
  data PT_LOAD FLAGS(6);
}

SECTIONS
{
  . = IMAGE_BASE;
  __image_start = .;

  .text : AT(LOADED(ADDR(.text))) {
    *(.head.text)
    *(.idmap.text)
    . = ALIGN(2048);
    *(.vectors)
    *(.text.hot .text.hot.* .text .text.* )
  } :text
  /* What only `make sizes` and tests look at: apart, so that the size of .text is the kernel's own. */
  .probes : AT(LOADED(ADDR(.probes))) { *(.probes) } :text
  __text_end = .;

  . = ALIGN(SEGMENT_ALIGN);
  __rodata_start = .;
  .rodata : AT(LOADED(ADDR(.rodata))) {
    *(.rodata .rodata.*)
  } :rodata
  /* Tables that the linker gathers from all objects, each between its bounds. */
  . = ALIGN(16);
  .tables : AT(LOADED(ADDR(.tables))) {
    __lse_patches_start = .;
    KEEP(*(.lse_patches))
    __lse_patches_end = .;
    . = ALIGN(4);
    KEEP(*(.lse_replacements))
    . = ALIGN(16);
    __selftests_start = .;
    KEEP(*(.selftests))
    __selftests_end = .;
    . = ALIGN(16);
    __fixup_table_start = .;
    KEEP(*(.fixup_table))
    __fixup_table_end = .;
  } :rodata
  .init_array : AT(LOADED(ADDR(.init_array))) { *(.init_array .init_array.* .ctors .ctors.*) } :rodata
  . = ALIGN(64);
  __percpu_template = .;

  .percpu LOCAL_BASE : AT(LOADED(__percpu_template)) {
    __percpu_start = .;
    KEEP(*(.percpu.page_aligned))
    KEEP(*(.percpu))
    . = ALIGN(64);
  } :percpu
  __percpu_bytes = SIZEOF(.percpu);
  . = __percpu_template + SIZEOF(.percpu);
  __percpu_template_end = .;
  percpu_emergency_stack_top = percpu_emergency_stack + (1 << EMERGENCY_STACK_SHIFT);
  __rodata_end = .;

  . = ALIGN(SEGMENT_ALIGN);
  __data_start = .;
  .data : AT(LOADED(ADDR(.data))) {
    *(.data .data.*)
    *(.got .got.plt)
    . = ALIGN(16);
  } :data
  .bss (NOLOAD) : AT(LOADED(ADDR(.bss))) {
    __bss_start = .;
    *(.bss .bss.* COMMON)
    . = ALIGN(16);
    __bss_end = .;

    /* The boot CPU's static unit, for ever. */
    . = ALIGN(PAGE_BYTES);
    __boot_unit = .;
    . += __percpu_bytes;
    . = ALIGN(PAGE_BYTES);
    __boot_unit_end = .;

    /* The boot stack: the upper half of a slot of twice its size (arch/trap.hpp). */
    . = ALIGN(2 * STACK_BYTES);
    __boot_stack_guard = .;
    . += STACK_BYTES;
    __boot_stack = .;
    . += STACK_BYTES;
    __boot_stack_top = .;
    . = ALIGN(PAGE_BYTES);
    __early_tables = .;
    *(.early_tables)
    __early_tables_end = .;
    . = ALIGN(SEGMENT_ALIGN);
  } :data
  __image_end = .;
  __image_bytes = __image_end - __image_start;

  /* What `make sizes` reads: not loaded. */
  .percpu_sites 0 : { KEEP(*(.percpu_sites)) }
  .comment 0 : { *(.comment) }
  .symtab 0 : { *(.symtab) }
  .strtab 0 : { *(.strtab) }
  .shstrtab 0 : { *(.shstrtab) }
  /DISCARD/ : { *(.note.*) *(.eh_frame*) *(.ARM.exidx*) *(.interp) *(.dynamic) }

  ASSERT(SIZEOF(.init_array) == 0, "static constructors: make the object constinit")
  ASSERT(__image_bytes <= IMAGE_ROOM, "the image does not fit its region")
  ASSERT(__image_end - LOCAL_BASE <= 0x100000000, "adrp must reach the local window")
  ASSERT(SIZEOF(.percpu) <= UNIT_BYTES, "the static per-CPU area exceeds a unit")
  ASSERT((exception_vectors & 2047) == 0, "VBAR_EL1 needs 2 KiB alignment")
  ASSERT((LOCAL_BASE & (PAGE_BYTES - 1)) == 0, "the local window starts at a page")
  ASSERT((__early_tables & (PAGE_BYTES - 1)) == 0, "early tables are pages")
  ASSERT((__boot_unit & (PAGE_BYTES - 1)) == 0, "CPU 0's unit is mapped by pages")
  ASSERT(ADDR(.percpu) == LOCAL_BASE, "offset 0 of the template is offset 0 of a unit")
  ASSERT(ALIGNOF(.percpu) <= PAGE_BYTES, "a unit's frames are aligned to pages only")
  ASSERT((__boot_stack_guard & (2 * STACK_BYTES - 1)) == 0, "vectors.S tests a bit of SP: slots are aligned")
  ASSERT((percpu_emergency_stack_top & 15) == 0, "SP is a multiple of 16")
  ASSERT((__bss_start & 15) == 0 && (__bss_end & 15) == 0, "head.S clears 16 bytes at a time")
  ASSERT((__percpu_template & 15) == 0 && (__percpu_template_end & 15) == 0, "head.S copies 16 bytes at a time")
  ASSERT((__rodata_start & (SEGMENT_ALIGN - 1)) == 0 && (__data_start & (SEGMENT_ALIGN - 1)) == 0 &&
         (__image_end & (SEGMENT_ALIGN - 1)) == 0, "segments have permissions of their own, and no page in common")
}
