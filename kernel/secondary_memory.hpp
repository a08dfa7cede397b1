// What a CPU needs of memory before it is started: a unit, a root, an idle stack.
#pragma once

#include "lib/address.hpp"
#include "lib/result.hpp"

namespace atl {

/// Unit, root and idle stack for each of the CPUs 1 … count - 1, before any of them is started.
Result<> prepare_secondaries(unsigned count);

/// Top of a CPU's idle stack in the stacks region: the slot of its number.
VirtAddr idle_stack_top(unsigned cpu);
/// Maps the idle stack of `cpu` into its slot; the slot's lower half stays unmapped, as guard. The boot CPU's too.
Result<> map_idle_stack(unsigned cpu);

}  // namespace atl
