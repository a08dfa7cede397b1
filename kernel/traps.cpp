#include "kernel/traps.hpp"

#include "arch-arm64/esr.hpp"
#include "arch/trap.hpp"
#include "kernel/kernel_stack.hpp"
#include "kernel/panic.hpp"
#include "lib/fault.hpp"
#include "mm/layout.hpp"
#include "mm/regions.hpp"

namespace atl {
namespace {

using mm::KernelLayout;

/// Where a faulting address lies, in the words of docs/memory-layout.md.
const char* place_of(VirtAddr address) {
  if (address < VirtAddr(64_KiB)) return "null pointer";
  if (address < KernelLayout::Geometry::kKernelStart) return "user half";
  if (KernelLayout::kStacks.contains(address)) return "kernel stacks";
  return to_string(mm::region_of<KernelLayout>(address));
}

[[noreturn]] void panic_on_overflow(const arch::TrapFrame& frame) {
  const VirtAddr sp(frame.sp);
  const VirtRange stack = kernel_stack_of(sp);
  if (stack.empty()) panic_at(frame, "wild stack pointer {} ({})", sp, place_of(sp));
  // It ran off, or has no room for a trap frame.
  if (stack.contains(sp)) {
    panic_at(frame, "kernel stack overflow: sp {} has {} bytes left of its stack of {} bytes", sp,
             sp - stack.start, stack.size);
  }
  panic_at(frame, "kernel stack overflow: sp {} is {} bytes below its stack of {} bytes", sp,
           stack.start - sp, stack.size);
}

[[noreturn]] void panic_on_synchronous(const arch::TrapFrame& frame) {
  const arch::Esr esr(frame.esr);
  std::array<char, 128> buffer;
  BufferSink reason(buffer);
  arch::describe(esr, reason);
  if (!esr.is_address_valid()) panic_at(frame, "{}", reason.text());
  const VirtAddr address(frame.far);
  panic_at(frame, "{}, at {} ({})", reason.text(), address, place_of(address));
}

}  // namespace

void handle_trap(arch::TrapFrame& frame, arch::TrapKind kind, bool stack_overflow) {
  if (stack_overflow && kFault != Fault::overflow_taken_for_abort) panic_on_overflow(frame);
  switch (kind) {
    case arch::TrapKind::synchronous: panic_on_synchronous(frame);
    case arch::TrapKind::irq: panic_at(frame, "interrupt from a mode that the kernel never runs in");
    case arch::TrapKind::fiq: panic_at(frame, "FIQ: not one of the kernel's own");
    case arch::TrapKind::serror: panic_at(frame, "SError: the system reports a failed access, cause unknown");
  }
}

}  // namespace atl
