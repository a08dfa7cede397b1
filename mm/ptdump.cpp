#include "mm/ptdump.hpp"

namespace atl::mm {
namespace {

/// A size as a person reads it: whole in the largest unit that divides it.
struct Amount {
  u64 number;
  char unit;
};
Amount amount(u64 bytes) {
  constexpr std::string_view kUnits = "BKMGT";
  usize unit = 0;
  while (unit + 1 < kUnits.size() && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return {bytes, kUnits[unit]};
}

const char* name(arch::MemoryType type) {
  switch (type) {
    case arch::MemoryType::normal: return "normal";
    case arch::MemoryType::device: return "device";
    case arch::MemoryType::normal_uncached: return "uncached";
  }
  return "unknown";
}

}  // namespace

bool PageTableDump::Run::continues_with(const Leaf& leaf, Region next_region) const {
  return first.va + size == leaf.va && first.attributes == leaf.attributes && first.level == leaf.level &&
         first.contiguous == leaf.contiguous && region == next_region;
}

Region PageTableDump::region_of(VirtAddr va) const {
  for (const RegionRange& r : regions_) {
    if (r.range.contains(va)) return r.region;
  }
  return Region::other;
}

void PageTableDump::leaf(const Leaf& leaf) {
  summary_.mapped_bytes += leaf.bytes;
  if (leaf.attributes.writable && leaf.attributes.executable) {
    if (summary_.writable_executable_bytes == 0) summary_.first_writable_executable = leaf.va;
    summary_.writable_executable_bytes += leaf.bytes;
  }
  const Region region = region_of(leaf.va);
  if (run_ && run_->continues_with(leaf, region)) {
    run_->size += leaf.bytes;
    return;
  }
  end_run();
  run_ = Run{leaf, leaf.bytes, region};
  ++summary_.ranges;
}

void PageTableDump::end_run() {
  if (!run_ || sink_ == nullptr) return;
  const Leaf& leaf = run_->first;
  if (titled_ != run_->region) format(*sink_, "---[ {} ]---\n", to_string(run_->region));
  titled_ = run_->region;
  const Amount total = amount(run_->size), each = amount(leaf.bytes);
  const bool wx = leaf.attributes.writable && leaf.attributes.executable;
  // The last address rather than the end: the kernel image ends at 2^64.
  format(*sink_, "{}-{} {:5}{}  r{}{} {}{}, {} x {}{}{}{}\n", leaf.va, leaf.va + (run_->size - 1),
         total.number, total.unit, leaf.attributes.writable ? 'w' : '-',
         leaf.attributes.executable ? 'x' : '-', name(leaf.attributes.type),
         leaf.attributes.global ? "" : " not global", run_->size / leaf.bytes, each.number, each.unit,
         leaf.contiguous ? " contiguous" : "", wx ? "  <-- W+X" : "");
}

PageTableDump::Summary PageTableDump::finish() {
  end_run();
  run_.reset();
  if (sink_ != nullptr) {
    const Amount mapped = amount(summary_.mapped_bytes), wx = amount(summary_.writable_executable_bytes);
    format(*sink_, "{} ranges, {}{} mapped, {} tables, {}{} writable and executable\n", summary_.ranges,
           mapped.number, mapped.unit, summary_.tables, wx.number, wx.unit);
  }
  return summary_;
}

}  // namespace atl::mm
