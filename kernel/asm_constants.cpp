// Not linked: compiled to assembly, from which the Makefile makes `asm_constants.h` for head.S and the
// linker script. So every number those two use is computed once, by the headers that own it.
#include "arch-arm64/descriptor.hpp"
#include "arch-arm64/documented_ram.hpp"
#include "arch-arm64/psci.hpp"
#include "arch/trap.hpp"
#include "kernel/secondary_boot.hpp"
#include "mm/layout.hpp"

namespace atl {

#define ATOLL_EMIT(name, value) asm volatile("\n.ascii \"->" #name " %0\"" ::"i"(static_cast<u64>(value)))

void emit_asm_constants() {
  using mm::KernelLayout;
  ATOLL_EMIT(PAGE_BYTES, arch::kPageSize);
  ATOLL_EMIT(IMAGE_BASE, KernelLayout::kImage.start.value());
  ATOLL_EMIT(IMAGE_ROOM, KernelLayout::kImage.size < 2_GiB ? KernelLayout::kImage.size : 2_GiB);
  ATOLL_EMIT(ELF_LOAD_ADDRESS, arch::kElfLoadAddress.value());
  ATOLL_EMIT(LOCAL_BASE, KernelLayout::kLocal.start.value());
  ATOLL_EMIT(UNIT_BYTES, KernelLayout::kUnitBytes);
  ATOLL_EMIT(BOOT_PERCPU_OFFSET, KernelLayout::percpu_offset(0));
  ATOLL_EMIT(STACK_BYTES, arch::kStackBytes);
  ATOLL_EMIT(MAIR_VALUE, arch::kMairValue);
  // Image header flags: little endian, page size in bits 2:1, "anywhere in memory" in bit 3.
  ATOLL_EMIT(IMAGE_FLAGS, (u64{static_cast<u8>(arch::KernelGeometry::kGranule)} + 1) << 1 | 1 << 3);

  // hw/vectors.S. `tbz` tests the stack bit; the frame is one `TrapFrame`, whose pairs traps.cpp asserts.
  ATOLL_EMIT(STACK_SHIFT, arch::kStackShift);
  static_assert(is_power_of_two(arch::kEmergencyStackBytes));
  ATOLL_EMIT(EMERGENCY_STACK_SHIFT, std::countr_zero(arch::kEmergencyStackBytes));
  ATOLL_EMIT(TRAP_FRAME_BYTES, sizeof(arch::TrapFrame));
  ATOLL_EMIT(TRAP_X, __builtin_offsetof(arch::TrapFrame, x));
  ATOLL_EMIT(TRAP_ELR, __builtin_offsetof(arch::TrapFrame, elr));
  ATOLL_EMIT(TRAP_ESR, __builtin_offsetof(arch::TrapFrame, esr));
  ATOLL_EMIT(TRAP_RECORD, __builtin_offsetof(arch::TrapFrame, record));
  ATOLL_EMIT(TRAP_SYNCHRONOUS, arch::TrapKind::synchronous);
  ATOLL_EMIT(TRAP_IRQ, arch::TrapKind::irq);
  ATOLL_EMIT(TRAP_FIQ, arch::TrapKind::fiq);
  ATOLL_EMIT(TRAP_SERROR, arch::TrapKind::serror);

  ATOLL_EMIT(EL2_ANSWER, kFault == Fault::el2_claims_psci ? 2 : arch::psci::kNotSupported);

  ATOLL_EMIT(SECONDARY_IDENTITY_ROOT, __builtin_offsetof(SecondaryBoot, identity_root));
  ATOLL_EMIT(SECONDARY_OWN_ROOT, __builtin_offsetof(SecondaryBoot, own_root));
  ATOLL_EMIT(SECONDARY_TCR, __builtin_offsetof(SecondaryBoot, tcr));
  ATOLL_EMIT(SECONDARY_STACK_TOP, __builtin_offsetof(SecondaryBoot, stack_top));
  ATOLL_EMIT(SECONDARY_PERCPU_OFFSET, __builtin_offsetof(SecondaryBoot, percpu_offset));
  ATOLL_EMIT(SECONDARY_CPU, __builtin_offsetof(SecondaryBoot, cpu));
  ATOLL_EMIT(SECONDARY_STATUS, __builtin_offsetof(SecondaryBoot, status));
  ATOLL_EMIT(SECONDARY_STATUS_NO_GRANULE, SecondaryStatus::no_granule);
  ATOLL_EMIT(SECONDARY_BYTES, sizeof(SecondaryBoot));
}

}  // namespace atl
