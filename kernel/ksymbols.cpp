#include "kernel/ksymbols.hpp"

#include <algorithm>

#include "mm/layout.hpp"

extern "C" {
/// Missing from the first link, whose addresses it is made of.
[[gnu::weak]] extern const atl::u32 __ksymbols[];
}

namespace atl {

SymbolTable SymbolTable::from_words(VirtAddr base, const u32* words) {
  if (words == nullptr) return {};
  const usize count = words[0];
  return {base,
          {words + 1, count},
          {words + 1 + count, count},
          reinterpret_cast<const char*>(words + 1 + 2 * count)};
}

std::optional<Symbol> SymbolTable::find(VirtAddr address) const {
  if (starts_.empty() || address < base_ || address - base_ >= starts_.back()) return std::nullopt;
  const auto offset = static_cast<u32>(address - base_);
  const auto next = std::ranges::upper_bound(starts_, offset);
  if (next == starts_.begin()) return std::nullopt;
  const auto index = static_cast<usize>(next - starts_.begin()) - 1;
  return Symbol{names_ + name_offsets_[index], offset - starts_[index]};
}

SymbolTable kernel_symbols() { return SymbolTable::from_words(mm::KernelLayout::kImage.start, __ksymbols); }

}  // namespace atl
