// A GICv3 as interrupts.cpp drives it. Another controller is another class with these operations.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "arch-arm64/hw/gic_acknowledgement.hpp"
#include "arch-arm64/hw/mmio.hpp"
#include "arch-arm64/mpidr.hpp"
#include "arch/interrupts.hpp"
#include "lib/cpu_set.hpp"
#include "lib/result.hpp"

namespace atl::arch {

class GicV3 {
 public:
  /// Once, on the boot CPU. Finds every CPU's redistributor: one read for each frame, here and never again.
  /// `not_supported` if the distributor is no GICv3 or v4, `timed_out` if it does not answer.
  Result<> init(const GicRegisters& registers, std::span<const u64> mpidrs);
  /// On each CPU, IRQs masked. `not_found` if no frame carries its affinity, `timed_out` if it stays asleep.
  Result<> init_cpu(unsigned cpu);

  /// `irq` below `interrupt_count`. SGIs and PPIs: of the calling CPU. SPIs: enabling routes to that CPU.
  void enable(IrqNumber irq);
  void disable(IrqNumber irq);
  u32 interrupt_count() const { return interrupt_count_; }

  /// The pending interrupt of the highest priority, now active, or a number from `kFirstSpecial` on.
  Acknowledgement acknowledge();
  void end(Acknowledgement taken);

  void send(unsigned sgi, const CpuSet& targets);
  void send_one(unsigned sgi, unsigned cpu);
  void send_all_others(unsigned sgi);

 private:
  std::optional<unsigned> find_cpu(Affinity affinity) const;
  /// The calling CPU's.
  RegisterBlock own_redistributor() const;
  /// The frame that holds `irq`'s enable, group and priority bits.
  RegisterBlock bank_of(IrqNumber irq) const;
  [[nodiscard]] bool wait_for_distributor() const;

  RegisterBlock distributor_;
  u32 interrupt_count_ = 0;
  std::span<const u64> mpidrs_;
  /// By logical number; not mapped where no frame carries the CPU's affinity.
  std::array<RegisterBlock, kMaxCpus> redistributors_{};
};

}  // namespace atl::arch
