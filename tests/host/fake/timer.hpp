// The calling thread's CPU's timer: a clock that stands still until a test sets it.
#pragma once

#include <optional>

#include "arch/timer.hpp"

namespace atl::arch::fake {

void set_ticks(u64 ticks);
/// What the timer PPI is to be raised at; nothing after `timer_cancel`.
std::optional<u64> deadline();

}  // namespace atl::arch::fake
