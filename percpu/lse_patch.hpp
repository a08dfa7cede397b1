// Boot-time patching of the LL/SC loops of per-CPU operations: on a CPU with FEAT_LSE each becomes one atomic
// instruction and NOPs, in place. The table is what arch-impl/percpu_atomic.hpp left in `.lse_patches`.
#pragma once

#include <concepts>
#include <span>

#include "lib/address.hpp"
#include "lib/result.hpp"

namespace atl::percpu {

/// One loop and its replacement, each by its distance from the field that holds it.
struct LsePatch {
  std::int32_t original;
  std::int32_t replacement;
  u16 original_bytes;
  u16 replacement_bytes;

  VirtRange original_range() const {
    return {address_of(&original) + static_cast<u64>(i64{original}), original_bytes};
  }
  VirtRange replacement_range() const {
    return {address_of(&replacement) + static_cast<u64>(i64{replacement}), replacement_bytes};
  }
};
static_assert(sizeof(LsePatch) == 12);

/// The longest loop that may be patched, in bytes.
inline constexpr u64 kLongestSequence = 64;

struct LsePatchCount {
  usize patched = 0;
};

/// Whether the loop lies in `text`, starts with a load-exclusive (so it is a loop, and not patched yet), and the
/// replacement lies elsewhere and is no longer than the loop; else `invalid_argument`.
Result<> check_lse_patch(const LsePatch& patch, VirtRange text);

/// Overwrites one checked loop through `writable`, an alias of it, and makes the new instructions visible.
void write_lse_patch(const LsePatch& patch, u32* writable);

/// Patches every loop of the table, or none if an entry is wrong. On the boot CPU with IRQs masked, before any
/// other CPU runs. `make_writable(VirtRange)` gives a u32* through which that piece of text (at most
/// kLongestSequence bytes; it may cross a page) can be written until the next call.
template <std::invocable<VirtRange> MakeWritable>
Result<LsePatchCount> apply_lse_patches(std::span<const LsePatch> table, VirtRange text,
                                        MakeWritable&& make_writable) {
  for (const LsePatch& patch : table) {
    if (const auto checked = check_lse_patch(patch, text); !checked) return std::unexpected(checked.error());
  }
  for (const LsePatch& patch : table) write_lse_patch(patch, make_writable(patch.original_range()));
  return LsePatchCount{table.size()};
}

}  // namespace atl::percpu
