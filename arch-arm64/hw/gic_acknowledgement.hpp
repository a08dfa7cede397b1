// An interrupt between its acknowledgement and its end.
#pragma once

#include "arch/interrupts.hpp"
#include "lib/types.hpp"

namespace atl::arch {

struct Acknowledgement {
  IrqNumber irq;
  /// What the controller gave and wants back, whole: a GICv2 names the sender of an SGI beside the INTID.
  u32 token;
};

}  // namespace atl::arch
