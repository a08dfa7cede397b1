#include "arch-arm64/hw/gic.hpp"

#include "lib/fault.hpp"

namespace atl::arch {
namespace {

void reset(RegisterBlock bank, u32 first, u32 group1) {
  bank.write32(gic::register_of(gic::BitArray::clear_enable, first), ~u32{0});
  bank.write32(gic::register_of(gic::BitArray::clear_pending, first), ~u32{0});
  bank.write32(gic::register_of(gic::BitArray::clear_active, first), ~u32{0});
  bank.write32(gic::register_of(gic::BitArray::group, first), group1);
}

}  // namespace

gic::FiqSgis Gic::wanted_fiq_sgis() {
  if constexpr (kFault == Fault::stop_is_maskable) return {};
  return gic::FiqSgis(u32{1} << static_cast<unsigned>(Ipi::stop));
}

void Gic::reset_spis(RegisterBlock distributor) const {
  for (u32 first = gic::kFirstSpi; first < interrupt_count_; first += 32) reset(distributor, first, ~u32{0});
}

void Gic::reset_private(RegisterBlock bank) const { reset(bank, 0, fiq_sgis_.group1()); }

void Gic::enable_ipis(RegisterBlock bank) const {
  for (u32 sgi = 0; sgi < kIpiKinds; sgi += 4) {
    bank.write32(gic::priority_register(sgi), fiq_sgis_.priorities(sgi));
  }
  bank.write32(gic::register_of(gic::BitArray::set_enable, 0), (u32{1} << kIpiKinds) - 1);
}

void Gic::enable_in(RegisterBlock bank, IrqNumber irq) const {
  bank.write32(gic::priority_register(irq), fiq_sgis_.priorities(irq));
  bank.write32(gic::register_of(gic::BitArray::set_enable, irq), gic::bit_of(irq));
}

}  // namespace atl::arch
