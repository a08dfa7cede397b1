// Instructions that are allowed to fault. Each has an entry in the section `.fixup_table`, which the trap
// entry looks up before it reports anything; execution then goes on at the entry's `resume`.
#pragma once

#include <optional>
#include <span>

#include "lib/types.hpp"

namespace atl::arch {

struct FixupEntry {
  u64 fault;   ///< address of the instruction
  u64 resume;  ///< where to go on, with all registers as they were
};

/// In link order, which is no order: there are only a few.
constexpr std::optional<u64> find_fixup(std::span<const FixupEntry> table, u64 pc) {
  for (const FixupEntry& entry : table) {
    if (entry.fault == pc) return entry.resume;
  }
  return std::nullopt;
}

}  // namespace atl::arch
