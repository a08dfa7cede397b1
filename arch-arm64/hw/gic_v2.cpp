#include "arch-arm64/hw/gic_v2.hpp"

namespace atl::arch {

namespace distributor = gic::v2::distributor;
namespace cpu_interface = gic::v2::cpu_interface;

Result<> GicV2::init(const GicRegisters& registers, std::span<const u64>) {
  distributor_ = RegisterBlock(registers.distributor.start);
  cpu_interface_ = RegisterBlock(registers.cpu_interface.start);
  // Not the distributor's identification registers: hypervisors leave those out.
  constexpr u32 kVersion = 2;
  if (cpu_interface::architecture(cpu_interface_.read32(cpu_interface::kIdentification)) != kVersion) {
    return fail(Error::not_supported);
  }
  interrupt_count_ = gic::interrupt_count(distributor_.read32(distributor::kType));

  distributor_.write32(distributor::kControl, 0);
  const u64 groups = gic::register_of(gic::BitArray::group, 0);
  distributor_.write32(groups, ~u32{0});
  has_groups_ = distributor_.read32(groups) != 0;
  if (has_groups_) fiq_sgis_ = wanted_fiq_sgis();

  reset_spis(distributor_);
  distributor_.write32(distributor::kControl,
                       distributor::kEnable | (has_groups_ ? distributor::kEnableGroup1 : 0));
  return {};
}

Result<> GicV2::init_cpu(unsigned cpu) {
  TRY(interfaces_.learn(cpu, distributor_.read32(distributor::target_register(0))));
  reset_private(distributor_);
  for (u32 sgi = 0; sgi < gic::kSgiCount; sgi += 4) {
    distributor_.write32(distributor::kClearPendingSgis + sgi, ~u32{0});
  }
  enable_ipis(distributor_);
  enable_cpu_interface();
  return {};
}

/// Every priority let through and all of it counted for preemption, the end also deactivates, nothing is active.
void GicV2::enable_cpu_interface() {
  cpu_interface_.write32(cpu_interface::kPriorityMask, 0xff);
  cpu_interface_.write32(cpu_interface::kBinaryPoint, 0);
  for (u64 i = 0; i < 4; ++i) cpu_interface_.write32(cpu_interface::kActivePriorities + 4 * i, 0);
  u32 control = cpu_interface_.read32(cpu_interface::kControl) & cpu_interface::kBypass;
  control |= cpu_interface::kEnable;
  if (has_groups_) {
    cpu_interface_.write32(cpu_interface::kAliasedBinaryPoint, 0);
    for (u64 i = 0; i < 4; ++i) cpu_interface_.write32(cpu_interface::kActivePrioritiesGroup1 + 4 * i, 0);
    control |= cpu_interface::kEnableGroup1 | cpu_interface::kAcknowledgeBoth | cpu_interface::kGroup0IsFiq;
  }
  cpu_interface_.write32(cpu_interface::kControl, control);
}

void GicV2::shut_out() { cpu_interface_.write32(cpu_interface::kPriorityMask, 0); }

void GicV2::enable(IrqNumber irq) {
  if (irq >= gic::kFirstSpi) {
    // A byte, because a neighbour's may be written by another CPU.
    const u8 own = gic::v2::CpuInterfaces::named_by(distributor_.read32(distributor::target_register(0)));
    distributor_.write8(distributor::target_register(irq), own);
  }
  enable_in(distributor_, irq);
}

void GicV2::disable(IrqNumber irq) {
  distributor_.write32(gic::register_of(gic::BitArray::clear_enable, irq), gic::bit_of(irq));
}

Acknowledgement GicV2::acknowledge(gic::Group group) {
  using gic::v2::AcknowledgedInterrupt;
  if (group == gic::Group::fiq) {
    // GICC_IAR would give an IRQ as well, were the FIQ gone, and IRQs may be masked here. What of Group 0 is pending
    // can only be overtaken by more of it, so nothing changes between the two reads.
    const u32 pending = AcknowledgedInterrupt(cpu_interface_.read32(cpu_interface::kHighestPending)).intid();
    if (pending >= gic::kSgiCount || fiq_sgis_.group_of(pending) != gic::Group::fiq) return {};
  }
  // For an IRQ GICC_IAR may give the FIQ that came since, whose exception then finds nothing and is reported as
  // foreign. It does not come to that: the only FIQ is `Ipi::stop`, and its handler never returns.
  const AcknowledgedInterrupt taken(cpu_interface_.read32(cpu_interface::kAcknowledge));
  // What an SGI's sender stored before it is visible from here on.
  asm volatile("dsb sy" ::: "memory");
  return {.irq = taken.intid(), .token = taken.end(), .group = group};
}

void GicV2::end(Acknowledgement taken) { cpu_interface_.write32(cpu_interface::kEnd, taken.token); }

void GicV2::send(unsigned sgi, const CpuSet& targets) {
  write_sgi(gic::v2::sgi_to(interfaces_.of(targets), sgi));
}

void GicV2::send_all_others(unsigned sgi) { write_sgi(gic::v2::sgi_to_all_others(sgi)); }

/// Stores before it are visible to the CPUs that it interrupts.
void GicV2::write_sgi(u32 value) {
  asm volatile("dsb ishst" ::: "memory");
  distributor_.write32(distributor::kSendSgi, value);
}

}  // namespace atl::arch
