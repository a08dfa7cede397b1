// arch/mmu.hpp on the machine: root switch, address translation, TLB and cache maintenance.
#include "arch/mmu.hpp"

#include "arch-arm64/hw/sysreg.hpp"
#include "arch-arm64/tlbi.hpp"
#include "lib/fault.hpp"

/// hw/root_switch.S. To be called at its physical address.
extern "C" void switch_root(atl::u64 zero_root, atl::u64 own_root);

namespace atl::arch {
namespace {

u64 image_offset;

/// PAR_EL1: bit 0 tells a fault; bits 47:12 are the output address.
constexpr u64 kTranslationFailed = 1;
constexpr u64 kOutputAddressMask = ((u64{1} << 48) - 1) & ~u64{0xfff};

/// CTR_EL0 gives line sizes as the log2 of a number of words.
u64 data_line_bytes() { return u64{4} << (ATOLL_READ_SYSREG("ctr_el0") >> 16 & 0xf); }
u64 instruction_line_bytes() { return u64{4} << (ATOLL_READ_SYSREG("ctr_el0") & 0xf); }

template <class Operation>
void for_each_line(VirtRange range, u64 line_bytes, Operation operation) {
  if (range.empty()) return;
  const VirtAddr end = range.end();
  for (VirtAddr line = range.start.align_down(line_bytes); line < end; line += line_bytes) {
    operation(line.value());
  }
}

}  // namespace

void set_image_offset(u64 virt_minus_phys) { image_offset = virt_minus_phys; }

PhysAddr image_to_phys(const void* in_image) { return PhysAddr(address_of(in_image).value() - image_offset); }

PhysAddr current_root() { return PhysAddr(ATOLL_READ_SYSREG("ttbr1_el1")); }

void install_root(PhysAddr zero_root, PhysAddr own_root) {
  if constexpr (kFault == Fault::root_switch_keeps_tlb) {
    ATOLL_WRITE_SYSREG("ttbr1_el1", own_root.value());
    asm volatile("isb" ::: "memory");
    return;
  }
  // The identity map makes the physical address of the routine its virtual one.
  const PhysAddr routine = image_to_phys(reinterpret_cast<const void*>(&switch_root));
  const auto call = reinterpret_cast<decltype(&switch_root)>(routine.value());
  call(zero_root.value(), own_root.value());
}

void drop_identity_map(PhysAddr zero_root) {
  ATOLL_WRITE_SYSREG("ttbr0_el1", zero_root.value());
  asm volatile("isb" ::: "memory");
  tlb_flush_all_local();
}

std::optional<PhysAddr> translate(VirtAddr va) {
  // An IRQ's or FIQ's handler may use AT itself, and nobody preserves PAR_EL1. The ISB completes the AT before PAR_EL1
  // is read.
  u64 daif;
  u64 par;
  asm volatile(
      "mrs %[daif], daif\n"
      "msr daifset, #3\n"
      "at s1e1r, %[va]\n"
      "isb\n"
      "mrs %[par], par_el1\n"
      "msr daif, %[daif]"
      : [daif] "=&r"(daif), [par] "=&r"(par)
      : [va] "r"(va.value())
      : "memory");

  if ((par & kTranslationFailed) != 0) return std::nullopt;
  return PhysAddr((par & kOutputAddressMask) | (va.value() & 0xfff));
}

// Arm ARM D8.14: the store to the descriptor is complete for the walkers of all CPUs (dsb ishst), the
// TLBI reaches them all, the dsb ish waits for them, the isb for this CPU's own prefetched instructions.

void tlb_flush_page(VirtAddr va) {
  const u64 operand = tlbi_operand(va);
  if constexpr (kFault == Fault::tlbi_not_broadcast) {
    asm volatile("dsb ishst\n tlbi vaae1, %0\n dsb ish\n isb" ::"r"(operand) : "memory");
  } else {
    asm volatile("dsb ishst\n tlbi vaae1is, %0\n dsb ish\n isb" ::"r"(operand) : "memory");
  }
}

void tlb_flush_all() {
  if constexpr (kFault == Fault::tlbi_not_broadcast) {
    asm volatile("dsb ishst\n tlbi vmalle1\n dsb ish\n isb" ::: "memory");
  } else {
    asm volatile("dsb ishst\n tlbi vmalle1is\n dsb ish\n isb" ::: "memory");
  }
}

void tlb_flush_all_local() { asm volatile("dsb nshst\n tlbi vmalle1\n dsb nsh\n isb" ::: "memory"); }

void sync_instructions(VirtRange written, VirtAddr executed) {
  for_each_line(written, data_line_bytes(), [](u64 line) {
    asm volatile("dc cvau, %0" ::"r"(line) : "memory");
  });
  asm volatile("dsb ish" ::: "memory");
  for_each_line(VirtRange{executed, written.size}, instruction_line_bytes(), [](u64 line) {
    asm volatile("ic ivau, %0" ::"r"(line) : "memory");
  });
  asm volatile("dsb ish\n isb" ::: "memory");
}

void clean_to_poc(VirtRange range) {
  for_each_line(range, data_line_bytes(), [](u64 line) {
    asm volatile("dc civac, %0" ::"r"(line) : "memory");
  });
  asm volatile("dsb sy" ::: "memory");
}

}  // namespace atl::arch
