#include "arch-arm64/hw/gic_v3.hpp"

#include "arch-arm64/gic_v3_registers.hpp"
#include "arch-arm64/hw/gic_cpu_interface.hpp"
#include "arch-arm64/hw/poll.hpp"
#include "arch-arm64/mpidr.hpp"
#include "arch/cpu.hpp"
#include "lib/panic.hpp"

namespace atl::arch {
namespace {

namespace distributor = gic::distributor;
namespace redistributor = gic::redistributor;

/// Writes to control and enable-clearing registers take effect when RWP reads as zero.
bool wait_for_writes(RegisterBlock block, u64 control, u32 pending) {
  return poll([=] { return (block.read32(control) & pending) == 0; });
}

/// Group 1 and off: the interrupts from `first` on, 32 of them. What a loader or an earlier kernel left is forgotten:
/// a pending interrupt would come once enabled, an active one never again. Priorities are set as lines are enabled:
/// 160 vCPUs take turns at every register access, so few of them make a quick start.
void reset_interrupts(RegisterBlock bank, u32 first) {
  bank.write32(gic::register_of(gic::BitArray::clear_enable, first), ~u32{0});
  bank.write32(gic::register_of(gic::BitArray::clear_pending, first), ~u32{0});
  bank.write32(gic::register_of(gic::BitArray::clear_active, first), ~u32{0});
  bank.write32(gic::register_of(gic::BitArray::group, first), ~u32{0});
}

/// The one priority that there is, for `irq` and its neighbours in the register.
void set_priority(RegisterBlock bank, u32 irq) {
  bank.write32(gic::priority_register(irq), gic::kPriorities);
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
  interrupt_count_ = distributor::interrupt_count(distributor_.read32(distributor::kType));

  gic::for_each_redistributor(
      registers.redistributor_regions, registers.redistributor_stride,
      [](VirtAddr base) { return RegisterBlock(base).read64(redistributor::kType); },
      [this](VirtAddr base, gic::RedistributorType type) {
        if (const auto cpu = find_cpu(type.affinity())) redistributors_[*cpu] = RegisterBlock(base);
      });

  distributor_.write32(distributor::kControl, 0);
  if (!wait_for_distributor()) return fail(Error::timed_out);
  for (u32 first = gic::kFirstSpi; first < interrupt_count_; first += 32) {
    reset_interrupts(distributor_, first);
  }
  if (!wait_for_distributor()) return fail(Error::timed_out);
  distributor_.write32(distributor::kControl, distributor::kAffinityRouting | distributor::kEnableGroup1);
  if (!wait_for_distributor()) return fail(Error::timed_out);
  return {};
}

Result<> GicV3::init_cpu(unsigned cpu) {
  const RegisterBlock frame = redistributors_[cpu];
  if (!frame.is_mapped()) return fail(Error::not_found);
  if (!wake(frame)) return fail(Error::timed_out);

  reset_interrupts(sgi_frame(frame), 0);
  if (!wait_for_writes(frame, redistributor::kControl, redistributor::kRegisterWritePending)) {
    return fail(Error::timed_out);
  }
  for (u32 sgi = 0; sgi < kIpiKinds; sgi += 4) set_priority(sgi_frame(frame), sgi);
  constexpr u32 kSgisInUse = (u32{1} << kIpiKinds) - 1;
  sgi_frame(frame).write32(gic::register_of(gic::BitArray::set_enable, 0), kSgisInUse);
  gic::cpu_interface::enable();
  return {};
}

void GicV3::enable(IrqNumber irq) {
  if (irq >= gic::kFirstSpi) {
    distributor_.write64(distributor::route_register(irq), Affinity::of_mpidr(mpidr()).value());
  }
  const RegisterBlock bank = bank_of(irq);
  set_priority(bank, irq);
  bank.write32(gic::register_of(gic::BitArray::set_enable, irq), gic::bit_of(irq));
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

Acknowledgement GicV3::acknowledge() {
  const u32 token = gic::cpu_interface::acknowledge();
  return {.irq = token & gic::kIntidMask, .token = token};
}
void GicV3::end(Acknowledgement taken) { gic::cpu_interface::end_of_interrupt(taken.token); }

void GicV3::send(unsigned sgi, const CpuSet& targets) {
  for_each_sgi_request(targets, mpidrs_, sgi,
                       [](SgiRequest request) { gic::cpu_interface::send_sgi(request.value()); });
}

void GicV3::send_one(unsigned sgi, unsigned cpu) {
  gic::cpu_interface::send_sgi(SgiRequest(Affinity::of_mpidr(mpidrs_[cpu]), sgi).value());
}

void GicV3::send_all_others(unsigned sgi) {
  gic::cpu_interface::send_sgi(SgiRequest::to_all_others(sgi).value());
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
