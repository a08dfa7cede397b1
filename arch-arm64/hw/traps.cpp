// From the vectors to whoever handles the exception.
#include <span>

#include "arch-arm64/esr.hpp"
#include "arch-arm64/fixup_table.hpp"
#include "arch-arm64/hw/interrupt_dispatch.hpp"
#include "arch-arm64/hw/sysreg.hpp"
#include "arch/cpu.hpp"
#include "arch/mmu.hpp"
#include "arch/trap.hpp"

extern "C" {
/// hw/vectors.S.
extern char exception_vectors[];
/// The linker script gathers `.fixup_table` between these.
extern const atl::arch::FixupEntry __fixup_table_start[];
extern const atl::arch::FixupEntry __fixup_table_end[];
}

namespace atl::arch {
namespace {

// vectors.S stores these in pairs, and SP stays 16-byte aligned under a frame.
static_assert(offsetof(TrapFrame, sp) == offsetof(TrapFrame, x) + 31 * 8);
static_assert(offsetof(TrapFrame, spsr) == offsetof(TrapFrame, elr) + 8);
static_assert(offsetof(TrapFrame, far) == offsetof(TrapFrame, esr) + 8);
static_assert(sizeof(TrapFrame) % 16 == 0 && offsetof(TrapFrame, record) % 16 == 0);

constinit TrapHandler trap_handler = nullptr;
constinit IrqEntryCheck irq_entry_check = nullptr;

/// SPSR_EL1.M of code that runs at EL1 with SP_EL1: all of the kernel.
bool is_from_kernel(const TrapFrame& frame) {
  constexpr u64 kModeMask = 0x1f;
  constexpr u64 kEl1h = 0b00101;
  return (frame.spsr & kModeMask) == kEl1h;
}

/// The hardware masked FIQs on entry. Once the frame is saved the handler may be interrupted by one just as the
/// interrupted code could be: a CPU that panics, or hangs, in a handler is still stopped by another's panic. Not
/// while FIQs were masked, since then this CPU is not ready for one; and not in the handler of an FIQ, which that FIQ
/// would interrupt for ever if nobody takes it back.
void unmask_fiqs_as_in(const TrapFrame& frame, TrapKind kind) {
  constexpr u64 kFiqsMasked = 1 << 6;
  if (kind != TrapKind::fiq && (frame.spsr & kFiqsMasked) == 0) asm volatile("msr daifclr, #1" ::: "memory");
}

bool resumes_at_fixup(TrapFrame& frame) {
  const std::optional<u64> resume = find_fixup(std::span(__fixup_table_start, __fixup_table_end), frame.elr);
  if (resume) frame.elr = *resume;
  return resume.has_value();
}

/// A descriptor that another CPU has just made valid may still be seen invalid here once: the writer's
/// barriers order its walkers, not an access that this CPU had already begun. If the walk succeeds now, the
/// access does too (docs/architecture.md, "Per-CPU roots").
bool is_spurious(const TrapFrame& frame) {
  return Esr(frame.esr).is_translation_fault() && translate(VirtAddr(frame.far)).has_value();
}

}  // namespace

void set_trap_handler(TrapHandler handler) { trap_handler = handler; }
void set_irq_entry_check(IrqEntryCheck check) { irq_entry_check = check; }

void traps_init_cpu() {
  ATOLL_WRITE_SYSREG("vbar_el1", reinterpret_cast<u64>(exception_vectors));
  asm volatile("isb\n msr daifclr, #4" ::: "memory");
}

// x29 here links to the caller's record, whatever the compiler does with the rest of the frame.
[[gnu::noinline]] VirtAddr frame_pointer() {
  return VirtAddr(*static_cast<const u64*>(__builtin_frame_address(0)));
}

/// Called by vectors.S on the stack that holds the frame, exceptions masked; returns with IRQs masked.
extern "C" void trap_dispatch(TrapFrame& frame, TrapKind kind, bool stack_overflow) {
  // Before all else: whatever is wrong with this CPU, it stops when another one's panic says so.
  if (kind == TrapKind::fiq && dispatch_nmi() && !stack_overflow) return;
  unmask_fiqs_as_in(frame, kind);
  if (!stack_overflow && is_from_kernel(frame)) {
    if (kind == TrapKind::irq) {
      if (irq_entry_check != nullptr) irq_entry_check();
      return dispatch_interrupts();
    }
    if (kind == TrapKind::synchronous && (is_spurious(frame) || resumes_at_fixup(frame))) return;
  }
  if (trap_handler != nullptr) trap_handler(frame, kind, stack_overflow);
  // vectors.S restores SP from where the frame lies, which after an overflow is another stack.
  if (trap_handler == nullptr || stack_overflow) halt();
}

}  // namespace atl::arch
