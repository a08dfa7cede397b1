#include "kernel/boot_interrupts.hpp"

#include <array>
#include <span>

#include "arch/interrupts.hpp"
#include "kernel/boot_require.hpp"
#include "kernel/smp.hpp"
#include "kernel/time.hpp"
#include "mm/kernel_tables.hpp"

namespace atl {

void start_interrupts(const Machine& machine) {
  if (machine.gic.version != GicDescription::Version::v3) panic("boot: the device tree names no GICv3");
  const VirtRange distributor = require(mm::map_device(machine.gic.distributor), "GIC distributor");
  static constinit std::array<VirtRange, GicDescription::kMaxRegions> regions{};
  usize count = 0;
  for (const PhysRange& region : machine.gic.redistributors()) {
    regions[count++] = require(mm::map_device(region), "GIC redistributors");
  }
  const arch::GicRegisters registers{distributor, std::span(regions).first(count),
                                     machine.gic.redistributor_stride};
  require(arch::interrupts_init(registers, cpu_map().mpidrs()), "GIC");
  require(arch::interrupts_init_cpu(0), "GIC redistributor of the boot CPU");
  if (!machine.timer_irq) panic("boot: the device tree names no virtual timer");
  require(time_init(*machine.timer_irq), "timer interrupt");
  require(time_init_cpu(), "timer");
}

}  // namespace atl
