// Proof, as a parameter, that the running thread stays on its CPU.
#pragma once

#include "arch/cpu.hpp"
#include "percpu/preempt.hpp"

namespace atl::percpu {

/// Whoever holds a reference to one of these cannot migrate while the object lives.
class MigrationOff {
 public:
  MigrationOff(const MigrationOff&) = delete;
  MigrationOff& operator=(const MigrationOff&) = delete;

 protected:
  MigrationOff() = default;
  ~MigrationOff() = default;
};

/// Preemption is off for its lifetime. Nests; any context.
class [[nodiscard]] PreemptOff final : public MigrationOff {
 public:
  PreemptOff() { preempt_disable(); }
  ~PreemptOff() { preempt_enable(); }
};

/// Interrupts are masked for its lifetime, and then as before. Nests; any context.
class [[nodiscard]] IrqsOff final : public MigrationOff {
 public:
  IrqsOff() : saved_(arch::irq_save()) {}
  ~IrqsOff() { arch::irq_restore(saved_); }

 private:
  u64 saved_;
};

}  // namespace atl::percpu
