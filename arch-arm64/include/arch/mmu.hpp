// Seam: TTBR1, barriers around table writes, TLB and cache maintenance. Any context.
#pragma once

#include <optional>

#include "lib/address.hpp"

namespace atl::arch {

/// Makes stores to a table that is not yet linked visible to all walkers: `dsb ishst`.
void publish_table();
/// Makes a descriptor store visible to all walkers and to this CPU's next instruction: `dsb ishst; isb`.
void publish_descriptor();

/// Where the image was loaded: link address minus physical address. Once, before `install_root`.
void set_image_offset(u64 virt_minus_phys);
/// The physical address of an object of the image (code, data, BSS; not `.percpu`).
PhysAddr image_to_phys(const void* in_image);

/// The root this CPU's TTBR1_EL1 points at: the whole register, whose ASID field and CnP are zero. Were one
/// of them not, the value would be no root's address.
PhysAddr current_root();

/// Replaces the running root (docs/architecture.md): zero root, local flush, own root. The caller runs
/// with IRQs masked; the switch itself runs from the TTBR0 identity map, which must be live and cover
/// the image.
void install_root(PhysAddr zero_root, PhysAddr own_root);

/// Points TTBR0_EL1 at the zero root: ends the identity map on this CPU.
void drop_identity_map(PhysAddr zero_root);

/// What this CPU's MMU says of a read at EL1 (AT S1E1R, IRQs masked meanwhile), or nothing on a fault.
std::optional<PhysAddr> translate(VirtAddr va);

/// Reads the 32-bit word at `va` as any other access would, through the TLB; nothing if that faults. `translate`
/// walks the tables afresh, so only this shows what a CPU still holds. Any context.
std::optional<u32> probe_read(VirtAddr va);
/// Writes it; whether that did not fault at once. Any context. What the memory system says of a store may come later,
/// as an SError, which ends in a panic, or not at all: so only where a read has answered, and read back.
bool probe_write(VirtAddr va, u32 value);

/// Broadcast TLB maintenance, complete (dsb ish; isb) on return. On TCG each costs every vCPU.
/// The caller has cleared descriptors; both forms start with the `dsb ishst` that orders it.
/// `flush_page` drops leaf and walk-cache entries of the one page or block at `va`. A contiguous run needs
/// it for each of its entries: a CPU may have cached them one by one.
void tlb_flush_page(VirtAddr va);
void tlb_flush_all();
/// This CPU only. Never enough once own roots are installed (docs/decisions/0009-no-local-tlbi.md).
void tlb_flush_all_local();

/// After code was written through an alias at `written`: clean to PoU by that alias, invalidate
/// the instruction cache by `executed`. Both ranges are the same bytes; inner-shareable scope.
void sync_instructions(VirtRange written, VirtAddr executed);

/// Cleans and invalidates to PoC what a CPU with its MMU off will read or has written.
void clean_to_poc(VirtRange range);

}  // namespace atl::arch

#include "arch-impl/mmu.hpp"
