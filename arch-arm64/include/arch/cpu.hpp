// Seam: the executing CPU. Everything here is a few instructions, callable from any context.
#pragma once

#include "lib/types.hpp"

namespace atl::arch {

/// TPIDR_EL1: what to add to a local-window address to get this CPU's global alias,
/// GLOBAL_BASE + cpu * UNIT - LOCAL_BASE (mod 2^64). Set before the first C++ instruction.
u64 percpu_offset();

/// SP_EL0: the word that identifies what runs here; `percpu/preempt.hpp` gives it its type. One read may
/// serve a whole function, so whoever calls `set_current` does not use `current` in the same function.
void* current();
void set_current(void* thread);

/// MPIDR_EL1, all bits. `arch-arm64/mpidr.hpp` gives them meaning.
u64 mpidr();

/// The IRQ mask of PSTATE. `irq_save` sets it and returns what `irq_restore` takes. FIQs stay as they are: one is an
/// NMI (arch/interrupts.hpp), and unmasked wherever the kernel runs on its own root with an interrupt controller.
u64 irq_save();
void irq_restore(u64 saved);
/// An interrupt that is pending is taken before this returns, also if `irq_disable` follows at once.
void irq_enable();
void irq_disable();
bool irqs_masked();

/// WFI. Returns when an interrupt is pending, masked or not: check the condition with IRQs masked,
/// then wait, then unmask, and no wake-up is lost.
void wait_for_interrupt();
/// YIELD, for bounded spins.
void relax();
/// Masks everything and stays in WFI.
[[noreturn]] void halt();

/// Lets this CPU use FP and SIMD registers while it exists: only around library code that may. Their contents
/// are nobody's, so nothing is saved. Not nested; IRQs masked.
class FpSection {
 public:
  FpSection();
  ~FpSection();
  FpSection(const FpSection&) = delete;
  FpSection& operator=(const FpSection&) = delete;
};

/// The fields of the ID registers that Atoll decides by, as read on one CPU.
struct CpuFeatures {
  bool lse = false;                 ///< FEAT_LSE: ID_AA64ISAR0_EL1.Atomic
  bool common_not_private = false;  ///< FEAT_TTCNP: ID_AA64MMFR2_EL1.CnP
  bool multithreaded = false;       ///< MPIDR_EL1.MT
  unsigned physical_bits = 0;       ///< of output addresses: PARange, at most 48

  /// Whether a CPU with these may run what was decided by `boot`'s, the boot CPU's: it may have more, not less, and
  /// a core may share a TLB among its threads only if the boot CPU's may. Which make it is does not matter: on
  /// big.LITTLE machines a hypervisor shows several.
  constexpr bool suffice_beside(const CpuFeatures& boot) const {
    return (lse || !boot.lse) && (common_not_private || !boot.common_not_private) &&
           (!multithreaded || boot.multithreaded) && physical_bits >= boot.physical_bits;
  }
};
CpuFeatures read_cpu_features();

}  // namespace atl::arch

#include "arch-impl/cpu.hpp"
