// Planted faults: the negative controls of the test suite (Makefile: FAULT=name).
//
// A fault is a one-line `if constexpr (kFault == Fault::name)` at the place it breaks.
// `tests/negative` lists, for each, the test that must fail and the message it must fail with.
#pragma once

#include "lib/types.hpp"

#ifndef ATOLL_FAULT
#define ATOLL_FAULT none
#endif

namespace atl {

enum class Fault : u8 {
  none,
  tlbi_shift_by_page,           ///< by-VA TLBI operand shifted by the page size, not by 12
  tlbi_not_broadcast,           ///< TLBI without `is`: other CPUs keep their entries
  sync_skips_one_cpu,           ///< root sync leaves out the last possible CPU
  second_redistributor,         ///< only the first GICR region is searched
  shared_window,                ///< the last CPU links its neighbour's window table
  accessor_width,               ///< 16-bit this_cpu operations access 32 bits
  root_switch_keeps_tlb,        ///< no TLBI between the boot root and the own root
  unit_stride,                  ///< units are populated one page short of the static size
  unit_overlap,                 ///< the last CPU's unit begins with the last page of its neighbour's
  overflow_taken_for_abort,     ///< a stack overflow is reported like any other data abort
  sgi_ignores_cluster,          ///< SGI target written without Aff1
  mpidr_as_index,               ///< logical CPU number taken from Aff0
  disabled_memory_used,         ///< memory nodes with status "disabled" are added
  granule_field_misread,        ///< TGran4/TGran64: only 0 taken as "supported"
  physical_range_unclamped,     ///< TCR.IPS copied from PARange without a limit
  break_before_make_skipped,    ///< valid to valid descriptor change goes unchecked
  spinner_masks_ipi,            ///< a CPU waiting for a function call does not serve others' calls
  reservation_rounded_inward,   ///< the partial pages of a reservation are free
  ram_not_trimmed,              ///< the partial page at the end of a bank is used
  bank_overlap_unmerged,        ///< a bank that overlaps or touches a lower one is kept apart
  boot_page_handed_over,        ///< the buddy allocator gets pages that the boot allocator has begun
  buddy_order_unchecked,        ///< a free buddy of lower order is joined as if it were whole
  buddy_double_free_unchecked,  ///< a block that is free is freed again without a word
  preempt_request_ignored,      ///< preempt_enable does not look for a reschedule request
  alias_is_local,               ///< PerCpu::here gives a local address
  lse_patch_keeps_tail,         ///< LSE patching leaves the rest of the LL/SC loop behind the new instruction
  narrow_compare_unextended,    ///< 8/16-bit cmpxchg compares the whole expected register
  psci_taken_on_trust,          ///< PSCI is used whether or not it answers the question for its version
  cpus_without_firmware,        ///< CPUs count as possible though there is no PSCI to start them
  el2_claims_psci,              ///< our own EL2 answers an HVC as PSCI 0.2 would
  cpu_on_lies,                  ///< CPU_ON of the last CPU is not issued, but taken for a success
  ping_unanswered,              ///< the last CPU ignores the IPI that it has to answer to be online
  sgi_ended_without_sender,     ///< GICv2: the end of an SGI does not name the CPU that sent it
  stop_is_maskable,             ///< the IPI that stops a CPU is an IRQ even where it could be an FIQ
  irq_save_masks_fiq,           ///< masking IRQs masks FIQs as well
  first_message_lost,           ///< a panic whose message faults does not show the message's text
  control_characters_printed,   ///< text from a device tree goes to the terminal as it is
  reg_wraps,                    ///< an address and a size of `reg` may go around the end of the address space
  percpu_shows_own,             ///< the monitor shows its own CPU's variables, whichever is asked for
  stop_not_handled,             ///< a CPU that is told to stop by a panic goes on
  reservation_dropped,          ///< a reservation that finds the table full is forgotten
  no_map_hides_kernel,          ///< `no-map` over the kernel image is obeyed
  no_map_lifted_whole,          ///< one byte of `no-map` over the kernel, and all of it is mapped
  join_hides_initrd,            ///< two reservations become a `no-map` over the initrd between them
  vast_bank_dropped,            ///< a bank that exceeds 52 bits is left out, not clipped
  initrd_unchecked,             ///< the initrd is taken wherever it lies
  registers_left_in_ram,        ///< registers inside a bank stay RAM
  registers_over_kernel,        ///< registers may lie over the kernel image or the device tree
  gic_frame_unchecked,          ///< a GIC's frame may be of any size and at any address
  memory_entries_unbounded,     ///< a tree may have any number of banks and reservations
  ranges_unbounded,             ///< all of a bus's ranges are searched, however many
  interrupt_entries_unbounded,  ///< all entries of interrupts-extended are passed over, however many
  notes_unbounded,              ///< each remark on a tree is printed, however many
  uart_unidentified,            ///< any registers pass for a PL011's
};

inline constexpr Fault kFault = Fault::ATOLL_FAULT;

}  // namespace atl
