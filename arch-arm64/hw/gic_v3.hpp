// A GICv3 or v4: a redistributor for each CPU, and a CPU interface of system registers.
#pragma once

#include <array>
#include <optional>

#include "arch-arm64/hw/gic.hpp"
#include "arch-arm64/mpidr.hpp"

namespace atl::arch {

class GicV3 final : public Gic {
 public:
  /// Finds every CPU's redistributor: one read for each frame, here and never again.
  Result<> init(const GicRegisters& registers, std::span<const u64> mpidrs) override;
  /// `not_found` if no frame carries its affinity, `timed_out` if it stays asleep.
  Result<> init_cpu(unsigned cpu) override;
  void shut_out() override;
  void enable(IrqNumber irq) override;
  void disable(IrqNumber irq) override;
  Acknowledgement acknowledge(gic::Group group) override;
  void end(Acknowledgement taken) override;
  void send(unsigned sgi, const CpuSet& targets) override;
  void send_all_others(unsigned sgi) override;

 private:
  std::optional<unsigned> find_cpu(Affinity affinity) const;
  /// The calling CPU's.
  RegisterBlock own_redistributor() const;
  /// The frame that holds `irq`'s enable, group and priority bits.
  RegisterBlock bank_of(IrqNumber irq) const;
  [[nodiscard]] bool wait_for_distributor() const;

  RegisterBlock distributor_;
  std::span<const u64> mpidrs_;
  /// By logical number; not mapped where no frame carries the CPU's affinity.
  std::array<RegisterBlock, kMaxCpus> redistributors_{};
};

}  // namespace atl::arch
