#include "percpu/lse_patch.hpp"

#include "arch/mmu.hpp"
#include "lib/fault.hpp"

namespace atl::percpu {

namespace {

constexpr u64 kInstructionBytes = 4;
constexpr u32 kNop = 0xd503201f;

/// LDXR, LDXRB, LDXRH (Arm ARM C6.2.195) or LDXP (C6.2.194), without acquire.
constexpr bool is_load_exclusive(u32 instruction) {
  return (instruction & 0x3ffffc00) == 0x085f7c00 || (instruction & 0xbfff8000) == 0x887f0000;
}

bool whole_instructions(VirtRange range) {
  return !range.empty() && range.start.is_aligned(kInstructionBytes) && range.size % kInstructionBytes == 0;
}

}  // namespace

Result<> check_lse_patch(const LsePatch& patch, VirtRange text) {
  const VirtRange original = patch.original_range();
  const VirtRange replacement = patch.replacement_range();
  if (!whole_instructions(original) || !text.contains(original)) return fail(Error::invalid_argument);
  if (!whole_instructions(replacement) || replacement.overlaps(text)) return fail(Error::invalid_argument);
  if (original.size > kLongestSequence || replacement.size > original.size)
    return fail(Error::invalid_argument);
  if (!is_load_exclusive(*pointer_to<const u32>(original.start))) return fail(Error::invalid_argument);
  return {};
}

void write_lse_patch(const LsePatch& patch, u32* writable) {
  const u32* replacement = pointer_to<const u32>(patch.replacement_range().start);
  const usize length = patch.original_bytes / kInstructionBytes;
  const usize new_length = patch.replacement_bytes / kInstructionBytes;
  for (usize i = 0; i < length; ++i) {
    if (i < new_length) {
      writable[i] = replacement[i];
    } else if constexpr (kFault != Fault::lse_patch_keeps_tail) {
      writable[i] = kNop;
    }
  }
  arch::sync_instructions({address_of(writable), patch.original_bytes}, patch.original_range().start);
}

}  // namespace atl::percpu
