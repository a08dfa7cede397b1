#include "kernel/boot_interrupts.hpp"

#include <array>
#include <span>

#include "arch/cpu.hpp"
#include "arch/interrupts.hpp"
#include "arch/timer.hpp"
#include "kernel/boot_require.hpp"
#include "kernel/read_machine.hpp"
#include "kernel/smp.hpp"
#include "kernel/time.hpp"
#include "mm/kernel_tables.hpp"
#include "percpu/events.hpp"

namespace atl {
namespace {

constexpr u64 kCheckNs = 100'000;
/// The interrupt is due at once; a second is for a host that does not run us.
constexpr u64 kPatienceNs = 1'000'000'000;

/// Whether this CPU's handler counts one, looked at without WFI, which might never end.
bool arrives(percpu::Event event) {
  const CpuSet self = CpuSet::of(0);
  const u64 deadline = arch::timer_ticks() + arch::ns_to_ticks(kPatienceNs);
  // A last look after the deadline: the host may have stopped us in between.
  for (bool late = false; percpu::total(event, self) == 0; late = arch::timer_ticks() >= deadline) {
    if (late) return false;
    arch::relax();
  }
  return true;
}

/// v2: distributor and CPU interface. v3: distributor and redistributor regions.
arch::GicRegisters map_gic(const GicDescription& gic) {
  static constinit std::array<VirtRange, GicDescription::kMaxRegions> regions{};
  const VirtRange distributor = require(mm::map_device(gic.distributor), "GIC distributor");
  VirtRange cpu_interface;
  if (gic.version == arch::GicVersion::v2) {
    cpu_interface = require(mm::map_device(gic.cpu_interface), "GIC CPU interface");
  }
  usize count = 0;
  for (const PhysRange& region : gic.redistributors()) {
    regions[count++] = require(mm::map_device(region), "GIC redistributors");
  }
  return {.version = *gic.version,
          .distributor = distributor,
          .cpu_interface = cpu_interface,
          .redistributor_regions = std::span(regions).first(count),
          .redistributor_stride = gic.redistributor_stride};
}

}  // namespace

void start_interrupts(const Machine& machine) {
  if (!machine.gic.version) panic("boot: the device tree names no GICv2 or GICv3");
  const arch::GicRegisters registers = map_gic(machine.gic);
  require(arch::interrupts_init(registers, cpu_map().mpidrs()), "GIC");
  require(arch::interrupts_init_cpu(0), "the boot CPU's part of the GIC");
  if (!machine.timer_irq) panic("boot: the device tree names no virtual timer");
  require(time_init(*machine.timer_irq), "timer interrupt");
  require(time_init_cpu(), "timer");
}

void check_interrupts_arrive() {
  arch::timer_set_deadline(arch::timer_ticks() + arch::ns_to_ticks(kCheckNs));
  if (!arrives(percpu::Event::timer_interrupt)) {
    panic("boot: the timer interrupt {} does not arrive", *machine().timer_irq);
  }
  arch::ipi_send_one(arch::Ipi::wake, 0);
  if (!arrives(percpu::Event::wake_received)) panic("boot: a software-generated interrupt does not arrive");
}

}  // namespace atl
