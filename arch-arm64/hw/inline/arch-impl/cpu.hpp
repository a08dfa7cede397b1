// The inline part of arch/cpu.hpp.
#pragma once

#include "arch/cpu.hpp"
#include "lib/fault.hpp"

namespace atl::arch {

// Volatile: a thread that migrates between two reads must see both values, so they may not be merged.
inline u64 percpu_offset() {
  u64 offset;
  asm volatile("mrs %0, tpidr_el1" : "=r"(offset));
  return offset;
}

// Not volatile: for the thread that runs this the value never changes, so one read may serve many uses.
inline void* current() {
  void* thread;
  asm("mrs %0, sp_el0" : "=r"(thread));
  return thread;
}
inline void set_current(void* thread) { asm volatile("msr sp_el0, %0" ::"r"(thread) : "memory"); }

// CPACR_EL1.FPEN: 0b11 lets EL1 and EL0 use the registers, 0b00 traps both.
inline FpSection::FpSection() { asm volatile("msr cpacr_el1, %0\n isb" ::"r"(u64{3} << 20) : "memory"); }
inline FpSection::~FpSection() { asm volatile("msr cpacr_el1, xzr\n isb" ::: "memory"); }

inline u64 mpidr() {
  u64 value;
  asm volatile("mrs %0, mpidr_el1" : "=r"(value));
  return value;
}

inline u64 irq_save() {
  u64 daif;
  if constexpr (kFault == Fault::irq_save_masks_fiq) {
    asm volatile("mrs %0, daif\n msr daifset, #3" : "=r"(daif)::"memory");
  } else {
    asm volatile("mrs %0, daif\n msr daifset, #2" : "=r"(daif)::"memory");
  }
  return daif;
}
inline void irq_restore(u64 saved) { asm volatile("msr daif, %0" ::"r"(saved) : "memory"); }
// Unmasked, a pending interrupt is taken "in finite time", which an `msr daifset` that follows may cut off. It is taken
// for certain before the first instruction after a context synchronization event, such as an ISB (Arm ARM,
// "Prioritization and recognition of interrupts").
inline void irq_enable() { asm volatile("msr daifclr, #2\n isb" ::: "memory"); }
inline void irq_disable() { asm volatile("msr daifset, #2" ::: "memory"); }
inline bool irqs_masked() {
  u64 daif;
  asm volatile("mrs %0, daif" : "=r"(daif)::"memory");
  return (daif >> 7 & 1) != 0;
}

// The DSB completes this CPU's stores first, so that whoever is to wake it has seen them.
inline void wait_for_interrupt() { asm volatile("dsb sy\n wfi" ::: "memory"); }
inline void relax() { asm volatile("yield" ::: "memory"); }

}  // namespace atl::arch
