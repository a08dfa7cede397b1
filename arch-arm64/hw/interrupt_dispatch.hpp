// Between trap entry and interrupts.cpp.
#pragma once

namespace atl::arch {

/// Handles every interrupt that is pending on this CPU. IRQs masked.
void dispatch_interrupts();

}  // namespace atl::arch
