// A GICv2: one distributor, and one CPU interface at the same address on each of at most eight CPUs.
#pragma once

#include "arch-arm64/gic_v2_registers.hpp"
#include "arch-arm64/hw/gic.hpp"

namespace atl::arch {

class GicV2 final : public Gic {
 public:
  Result<> init(const GicRegisters& registers, std::span<const u64> mpidrs) override;
  Result<> init_cpu(unsigned cpu) override;
  void shut_out() override;
  void enable(IrqNumber irq) override;
  void disable(IrqNumber irq) override;
  Acknowledgement acknowledge(gic::Group group) override;
  void end(Acknowledgement taken) override;
  void send(unsigned sgi, const CpuSet& targets) override;
  void send_all_others(unsigned sgi) override;

 private:
  void enable_cpu_interface();
  void write_sgi(u32 value);

  RegisterBlock distributor_;
  RegisterBlock cpu_interface_;
  /// Group 0 is ours: the group registers can be written. In the Non-secure view they read as zero.
  bool has_groups_ = false;
  gic::v2::CpuInterfaces interfaces_;
};

}  // namespace atl::arch
