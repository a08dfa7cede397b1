// Is the RAM there that the device tree promises? A tree of another machine, or a damaged one, would otherwise end in
// an abort somewhere in the page tables, or in tables that do not hold what was written.
#pragma once

#include "mm/memory_map.hpp"

namespace atl {

/// Writes, reads back and restores the first and the last free word of each bank of the finalized `map`. A bank that
/// does not hold the first is left out; one that does not hold the last is halved until it does. A line says so.
/// What is reserved is not touched: it may be secure, or in use.
/// Boot CPU on the boot root.
void leave_out_absent_ram(mm::MemoryMap& map);

}  // namespace atl
