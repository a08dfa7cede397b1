// Seam: exceptions. `hw/vectors.S` saves a TrapFrame and calls the handler that the kernel set.
#pragma once

#include <array>

#include "arch-arm64/geometry.hpp"
#include "lib/address.hpp"

namespace atl::arch {

/// Registers of the interrupted code, as `hw/vectors.S` stores them (offsets asserted there).
struct TrapFrame {
  std::array<u64, 31> x;  ///< x0..x30
  u64 sp;
  u64 elr;
  u64 spsr;
  u64 esr;
  u64 far;
  /// A frame record (x29, return address) linking this frame into the chain that backtraces walk.
  std::array<u64, 2> record;
};

enum class TrapKind : u8 { synchronous, irq, fiq, serror };

/// What `hw/` calls for everything that is not a device interrupt: faults, BRK, SError, unexpected vectors;
/// not for instructions with a fixup, nor for spurious translation faults, which just return. IRQs are masked on
/// entry and must be on return; an NMI may come, but for an FIQ's handler, which has FIQs masked. Returning resumes
/// the interrupted code with the frame's registers (SP excepted); after a stack overflow it halts the CPU.
/// Runs on the interrupted stack, or on this CPU's emergency stack after a stack overflow.
/// `stack_overflow` is set in that case; then `frame` holds the original fault's registers.
using TrapHandler = void (*)(TrapFrame& frame, TrapKind kind, bool stack_overflow);
void set_trap_handler(TrapHandler handler);

/// What runs at every interrupt entry, before its handler; nothing by default. For checks in debug builds.
using IrqEntryCheck = void (*)();
void set_irq_entry_check(IrqEntryCheck check);

/// Installs the vectors on this CPU (VBAR_EL1) and unmasks SError, so that one is reported where it happens.
/// After `set_trap_handler`.
void traps_init_cpu();

/// Kernel stacks are 2^kStackShift bytes and occupy the upper half of a slot twice as big, aligned to
/// the slot: bit kStackShift of any SP inside is 1, and entry code tests it before it pushes.
inline constexpr unsigned kStackShift = kPageShift > 14 ? kPageShift : 14;
inline constexpr u64 kStackBytes = u64{1} << kStackShift;

/// Per-CPU emergency stack bytes; its SP is a global alias (TPIDR_EL1 + local address).
inline constexpr u64 kEmergencyStackBytes = 8192;

/// x29 of the caller: where a backtrace of the running code starts.
VirtAddr frame_pointer();

}  // namespace atl::arch
