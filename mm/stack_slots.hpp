// Where a kernel stack lies in its slot: the upper half. The lower half is never mapped, and is the guard.
//
// A slot is aligned to its size, so one bit of any SP tells whether it is still on the stack, and clearing the
// bits below finds the slot, wherever the slot itself lies: in the stacks region, or, for the boot stack, in the
// image.
#pragma once

#include "arch-arm64/geometry.hpp"
#include "arch/trap.hpp"
#include "lib/address.hpp"

namespace atl::mm {

/// PID slots, each with a kernel stack slot of its own.
inline constexpr u64 kStackSlots = 32768;

template <class G>
struct StackSlots {
  static constexpr u64 kStackBytes = G::kPageSize > 16_KiB ? G::kPageSize : 16_KiB;
  static constexpr u64 kSlotBytes = 2 * kStackBytes;

  /// The stack of the `slot`th slot from `first`, where slot 0 begins.
  static constexpr VirtRange stack_of(VirtAddr first, u64 slot) {
    return stack_around(first + slot * kSlotBytes);
  }
  /// The stack of the slot that `stack_pointer` lies in; after an overflow that is below the stack itself. An
  /// empty stack's pointer is the next slot's first address.
  static constexpr VirtRange stack_around(VirtAddr stack_pointer) {
    return {stack_pointer.align_down(kSlotBytes) + kStackBytes, kStackBytes};
  }
};

using KernelStackSlots = StackSlots<arch::KernelGeometry>;
static_assert(KernelStackSlots::kStackBytes == arch::kStackBytes, "entry code tests kStackShift");

}  // namespace atl::mm
