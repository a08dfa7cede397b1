#include "arch-arm64/hw/gic_v3.hpp"

#include "arch-arm64/gic_v3_registers.hpp"
#include "arch-arm64/hw/gic_v3_cpu_interface.hpp"
#include "arch-arm64/hw/poll.hpp"
#include "arch-arm64/mpidr.hpp"
#include "arch/cpu.hpp"
#include "lib/panic.hpp"

namespace atl::arch {
namespace {

namespace cpu_interface = gic::v3::cpu_interface;
namespace distributor = gic::v3::distributor;
namespace redistributor = gic::v3::redistributor;

/// Writes to control and enable-clearing registers take effect when RWP reads as zero.
bool wait_for_writes(RegisterBlock block, u64 control, u32 pending) {
  return poll([=] { return (block.read32(control) & pending) == 0; });
}

bool wake(RegisterBlock frame) {
  frame.write32(redistributor::kWaker, frame.read32(redistributor::kWaker) & ~redistributor::kProcessorSleep);
  return poll([=] { return (frame.read32(redistributor::kWaker) & redistributor::kChildrenAsleep) == 0; });
}

RegisterBlock sgi_frame(RegisterBlock frame) { return frame.at(redistributor::kSgiFrame); }

}  // namespace

Result<> GicV3::init(const GicRegisters& registers, std::span<const u64> mpidrs) {
  distributor_ = RegisterBlock(registers.distributor.start);
  mpidrs_ = mpidrs;
  const u32 architecture = distributor::architecture(distributor_.read32(distributor::kPeripheralId2));
  if (architecture != 3 && architecture != 4) return fail(Error::not_supported);
  interrupt_count_ = gic::interrupt_count(distributor_.read32(distributor::kType));

  gic::v3::for_each_redistributor(
      registers.redistributor_regions, registers.redistributor_stride,
      [](VirtAddr base) { return RegisterBlock(base).read64(redistributor::kType); },
      [this](VirtAddr base, gic::v3::RedistributorType type) {
        if (const auto cpu = find_cpu(type.affinity())) redistributors_[*cpu] = RegisterBlock(base);
      });

  distributor_.write32(distributor::kControl, 0);
  if (!wait_for_distributor()) return fail(Error::timed_out);
  cpu_interface::use_system_registers();
  const bool one_state = (distributor_.read32(distributor::kControl) & distributor::kOneSecurityState) != 0;
  if (one_state && !cpu_interface::group0_is_kept()) fiq_sgis_ = wanted_fiq_sgis();

  reset_spis(distributor_);
  if (!wait_for_distributor()) return fail(Error::timed_out);
  distributor_.write32(distributor::kControl, distributor::kAffinityRouting | distributor::kEnableGroup1 |
                                                  (fiq_sgis_.any() ? distributor::kEnableGroup0 : 0));
  if (!wait_for_distributor()) return fail(Error::timed_out);
  return {};
}

Result<> GicV3::init_cpu(unsigned cpu) {
  const RegisterBlock frame = redistributors_[cpu];
  if (!frame.is_mapped()) return fail(Error::not_found);
  if (!wake(frame)) return fail(Error::timed_out);

  reset_private(sgi_frame(frame));
  if (!wait_for_writes(frame, redistributor::kControl, redistributor::kRegisterWritePending)) {
    return fail(Error::timed_out);
  }
  enable_ipis(sgi_frame(frame));
  cpu_interface::use_system_registers();
  cpu_interface::enable(fiq_sgis_.any());
  return {};
}

void GicV3::shut_out() {
  cpu_interface::use_system_registers();
  cpu_interface::mask_all();
}

void GicV3::enable(IrqNumber irq) {
  if (irq >= gic::kFirstSpi) {
    distributor_.write64(distributor::route_register(irq), Affinity::of_mpidr(mpidr()).value());
  }
  enable_in(bank_of(irq), irq);
}

void GicV3::disable(IrqNumber irq) {
  bank_of(irq).write32(gic::register_of(gic::BitArray::clear_enable, irq), gic::bit_of(irq));
  // On a timeout nothing better can be done than to take the interrupt once more.
  if (irq >= gic::kFirstSpi) {
    static_cast<void>(wait_for_distributor());
  } else {
    static_cast<void>(
        wait_for_writes(own_redistributor(), redistributor::kControl, redistributor::kRegisterWritePending));
  }
}

Acknowledgement GicV3::acknowledge(gic::Group group) {
  const u32 token = cpu_interface::acknowledge(group);
  return {.irq = token & gic::v3::kIntidMask, .token = token, .group = group};
}

void GicV3::end(Acknowledgement taken) { cpu_interface::end_of_interrupt(taken.group, taken.token); }

void GicV3::send(unsigned sgi, const CpuSet& targets) {
  const gic::Group group = fiq_sgis_.group_of(sgi);
  for_each_sgi_request(targets, mpidrs_, sgi,
                       [&](SgiRequest request) { cpu_interface::send_sgi(group, request.value()); });
}

void GicV3::send_all_others(unsigned sgi) {
  cpu_interface::send_sgi(fiq_sgis_.group_of(sgi), SgiRequest::to_all_others(sgi).value());
}

std::optional<unsigned> GicV3::find_cpu(Affinity affinity) const {
  for (unsigned cpu = 0; cpu < mpidrs_.size(); ++cpu) {
    if (Affinity::of_mpidr(mpidrs_[cpu]) == affinity) return cpu;
  }
  return std::nullopt;
}

// By search: this runs when a line is switched, not when it fires.
RegisterBlock GicV3::own_redistributor() const {
  const auto cpu = find_cpu(Affinity::of_mpidr(mpidr()));
  ATOLL_ASSERT(cpu.has_value());
  return redistributors_[*cpu];
}

RegisterBlock GicV3::bank_of(IrqNumber irq) const {
  return irq >= gic::kFirstSpi ? distributor_ : sgi_frame(own_redistributor());
}

bool GicV3::wait_for_distributor() const {
  return wait_for_writes(distributor_, distributor::kControl, distributor::kRegisterWritePending);
}

}  // namespace atl::arch
