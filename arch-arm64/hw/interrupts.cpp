// arch/interrupts.hpp on the machine: handlers and dispatch, over the interrupt controller's class.
#include "arch/interrupts.hpp"

#include <array>
#include <atomic>

#include "arch-arm64/hw/gic_v2.hpp"
#include "arch-arm64/hw/gic_v3.hpp"
#include "arch-arm64/hw/interrupt_dispatch.hpp"
#include "lib/format.hpp"

namespace atl::arch {
namespace {

constinit GicV2 gic_v2;
constinit GicV3 gic_v3;
/// Whichever of them the machine has; nullptr before it is known.
constinit Gic* controller = nullptr;
constinit std::array<IrqHandler, gic::kFirstSpecial> irq_handlers{};
constinit std::array<std::atomic<void (*)()>, kIpiKinds> ipi_handlers{};

static_assert(kIpiKinds <= gic::kSgiCount);

void handle_ipi(unsigned kind) {
  // A kind without a handler is one that nobody waits for.
  if (kind >= kIpiKinds) return;
  if (const auto handler = ipi_handlers[kind].load(std::memory_order_acquire)) handler();
}

void handle_device(IrqNumber irq) {
  if (const IrqHandler handler = irq_handlers[irq]) return handler(irq);
  // A level-triggered line would come again at once and for ever.
  controller->disable(irq);
  print("irq {}: no handler, line disabled\n", irq);
}

/// SGIs are the controller's own; the device tree names PPIs and SPIs only.
bool is_line(IrqNumber irq) { return irq >= gic::kSgiCount && irq < controller->interrupt_count(); }

}  // namespace

Result<> interrupts_init(const GicRegisters& registers, std::span<const u64> mpidrs) {
  if (registers.version == GicVersion::v2) {
    controller = &gic_v2;
  } else {
    controller = &gic_v3;
  }
  return controller->init(registers, mpidrs);
}

Result<> interrupts_init_cpu(unsigned cpu) {
  TRY(controller->init_cpu(cpu));
  // Whatever raises an FIQ from now on is ours, or worth a report.
  asm volatile("msr daifclr, #1" ::: "memory");
  return {};
}

void interrupts_shut_out() {
  if (controller != nullptr) controller->shut_out();
}

bool has_nmi() { return controller != nullptr && controller->fiq_sgis().any(); }

Result<> irq_set_handler(IrqNumber irq, IrqHandler handler) {
  if (!is_line(irq)) return fail(Error::out_of_range);
  if (irq_handlers[irq] != nullptr) return fail(Error::already_exists);
  irq_handlers[irq] = handler;
  return {};
}

Result<> irq_enable_line(IrqNumber irq) {
  if (!is_line(irq)) return fail(Error::out_of_range);
  controller->enable(irq);
  return {};
}

void irq_disable_line(IrqNumber irq) {
  if (is_line(irq)) controller->disable(irq);
}

void ipi_set_handler(Ipi kind, void (*handler)()) {
  ipi_handlers[static_cast<unsigned>(kind)].store(handler, std::memory_order_release);
}

void ipi_send(Ipi kind, const CpuSet& targets) { controller->send(static_cast<unsigned>(kind), targets); }

void ipi_send_one(Ipi kind, unsigned cpu) { ipi_send(kind, CpuSet::of(cpu)); }

void ipi_send_all_others(Ipi kind) { controller->send_all_others(static_cast<unsigned>(kind)); }

void dispatch_interrupts() {
  for (;;) {
    const Acknowledgement taken = controller->acknowledge(gic::Group::irq);
    if (!taken.is_interrupt()) return;
    if (taken.irq < gic::kSgiCount) {
      handle_ipi(taken.irq);
    } else {
      handle_device(taken.irq);
    }
    controller->end(taken);
  }
}

bool dispatch_nmi() {
  if (!has_nmi()) return false;
  const Acknowledgement taken = controller->acknowledge(gic::Group::fiq);
  if (!taken.is_interrupt()) return false;
  handle_ipi(taken.irq);
  controller->end(taken);
  return true;
}

}  // namespace atl::arch
