// Between trap entry and interrupts.cpp.
#pragma once

namespace atl::arch {

/// Handles every interrupt that is pending on this CPU. IRQs masked.
void dispatch_interrupts();

/// Handles the FIQ that this CPU took, if it is an IPI of Group 0. False: it is not, and nobody knows what it is.
/// IRQs and FIQs masked.
bool dispatch_nmi();

}  // namespace atl::arch
