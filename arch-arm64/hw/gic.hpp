// An interrupt controller as interrupts.cpp drives it. GicV2 and GicV3 are the two there are.
#pragma once

#include <span>

#include "arch-arm64/gic_registers.hpp"
#include "arch-arm64/hw/mmio.hpp"
#include "arch/interrupts.hpp"
#include "lib/cpu_set.hpp"
#include "lib/result.hpp"

namespace atl::arch {

/// An interrupt between its acknowledgement and its end.
struct Acknowledgement {
  IrqNumber irq = gic::kNothingPending;
  /// What the controller gave and wants back, whole: a GICv2 names the sender of an SGI beside the INTID.
  u32 token = gic::kNothingPending;
  gic::Group group = gic::Group::irq;

  bool is_interrupt() const { return irq < gic::kFirstSpecial; }
};

class Gic {
 public:
  /// Once, on the boot CPU: everything off, grouped and neither pending nor active. `mpidrs` by logical number.
  /// `not_supported`: not this version's; `timed_out`: it does not answer.
  virtual Result<> init(const GicRegisters& registers, std::span<const u64> mpidrs) = 0;
  /// On each CPU, IRQs and FIQs masked. `not_found`: this CPU has no part in the controller; `timed_out`: it has,
  /// but that does not answer.
  virtual Result<> init_cpu(unsigned cpu) = 0;

  /// No priority is let through to the calling CPU. Also before `init_cpu`, but after `init`.
  virtual void shut_out() = 0;

  /// `irq` below `interrupt_count`. SGIs and PPIs: of the calling CPU. SPIs: enabling routes to that CPU.
  virtual void enable(IrqNumber irq) = 0;
  virtual void disable(IrqNumber irq) = 0;

  /// The pending interrupt of the highest priority that raises this exception, now active; or none. For FIQs there
  /// has to be Group 0.
  virtual Acknowledgement acknowledge(gic::Group group) = 0;
  virtual void end(Acknowledgement taken) = 0;

  virtual void send(unsigned sgi, const CpuSet& targets) = 0;
  virtual void send_all_others(unsigned sgi) = 0;

  u32 interrupt_count() const { return interrupt_count_; }
  /// The SGIs that come as FIQs: `Ipi::stop`, or none where Group 0 is not ours.
  gic::FiqSgis fiq_sgis() const { return fiq_sgis_; }

 protected:
  ~Gic() = default;

  /// What `fiq_sgis` is where Group 0 is ours.
  static gic::FiqSgis wanted_fiq_sgis();
  /// Off and of Group 1, all SPIs. What a loader or an earlier kernel left is forgotten: a pending interrupt would
  /// come once enabled, an active one never again. Priorities are set as lines are enabled: 160 vCPUs take turns at
  /// every register access, so few of them make a quick start.
  void reset_spis(RegisterBlock distributor) const;
  /// The same for the calling CPU's SGIs and PPIs, in the frame that has them; some of them of Group 0.
  void reset_private(RegisterBlock bank) const;
  /// Priorities of the SGIs that are IPIs; then they are on.
  void enable_ipis(RegisterBlock bank) const;
  /// Priority of `irq` and of its neighbours in the register; then it is on.
  void enable_in(RegisterBlock bank, IrqNumber irq) const;

  u32 interrupt_count_ = 0;
  gic::FiqSgis fiq_sgis_;
};

}  // namespace atl::arch
