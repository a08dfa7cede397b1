// Seam: the interrupt controller (GICv2 or v3 here) and software-generated interrupts.
#pragma once

#include <span>

#include "lib/address.hpp"
#include "lib/cpu_set.hpp"
#include "lib/result.hpp"

namespace atl::arch {

using IrqNumber = u32;  ///< GIC INTID: 0..15 SGI, 16..31 PPI, 32.. SPI

/// Kinds of inter-processor interrupts; the value is the SGI number.
enum class Ipi : u8 { ping, call, wake, reschedule, stop };
inline constexpr unsigned kIpiKinds = 5;

enum class GicVersion : u8 { v2, v3 };

/// Register frames, already mapped as device memory.
struct GicRegisters {
  GicVersion version;
  VirtRange distributor;
  VirtRange cpu_interface;  ///< v2 only
  /// v3 only: every redistributor region the device tree lists, in its order.
  std::span<const VirtRange> redistributor_regions;
  /// Bytes from one redistributor to the next; 0: as each GICR_TYPER says.
  u64 redistributor_stride = 0;
};

/// Whether `Ipi::stop` is an NMI: it comes as an FIQ, which `irq_save` and `irq_disable` do not mask, and interrupts
/// whatever runs, other interrupts' handlers included. False where the controller keeps FIQs to the Secure world, and
/// before `interrupts_init`: then it is an interrupt like the others.
/// The handler of an NMI takes no lock, for the code that it interrupts may hold it; and what it does ends no wait.
bool has_nmi();

/// Handles one interrupt on the CPU that took it, IRQs masked.
using IrqHandler = void (*)(IrqNumber irq);

/// Once, on the boot CPU: SPIs grouped, disabled and neither pending nor active, distributor on. `mpidrs[cpu]` gives
/// the affinity of every logical CPU; the span must outlive the system.
/// `not_supported`: another controller is there than `version` says. `timed_out`: it does not answer.
Result<> interrupts_init(const GicRegisters& registers, std::span<const u64> mpidrs);

/// On each CPU, IRQs and FIQs masked: finds its part of the controller (v3: the redistributor frame with its affinity,
/// in any region; v2: one of eight interfaces), forgets what is pending or active, enables SGIs and the CPU
/// interface. FIQs are unmasked then. `not_found`: the CPU has no such part.
Result<> interrupts_init_cpu(unsigned cpu);

/// Nothing is signalled to the calling CPU any more: what is pending stays so, and does not keep it from waiting for
/// interrupts. For good, and in any state of the CPU.
void interrupts_shut_out();

/// PPIs are enabled on the calling CPU only; SPIs are routed to it. `out_of_range`: no PPI or SPI of this
/// controller. `already_exists`: the line has a handler, which it keeps. A line that fires without a handler is
/// disabled, with a message; so the handler comes first.
Result<> irq_set_handler(IrqNumber irq, IrqHandler handler);
Result<> irq_enable_line(IrqNumber irq);
void irq_disable_line(IrqNumber irq);

/// What an IPI of this kind runs on the receiving CPU, IRQs masked; nullptr: nothing. May be set while CPUs run: one
/// that is just receiving may still run the handler before. What the caller wrote is visible to the new one.
void ipi_set_handler(Ipi kind, void (*handler)());
/// Sends to the set, the caller included if it is in it. Stores before the call are visible to the
/// handlers (dsb ishst before the SGI write). One SGI register write per cluster of 16.
void ipi_send(Ipi kind, const CpuSet& targets);
void ipi_send_one(Ipi kind, unsigned cpu);
/// To all CPUs but the caller by one register write (IRM = 1), online or not.
void ipi_send_all_others(Ipi kind);

/// Counters of this CPU's handled interrupts live with whoever handles them, not here.

}  // namespace atl::arch
