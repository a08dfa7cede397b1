// Names for code addresses and per-CPU variables. The tables are made from the first link by tools/ksymbols.py and
// added by the second: 32-bit offsets, from the image's start or in a unit, ascending, each with the offset of its
// name in a text.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "lib/address.hpp"
#include "lib/types.hpp"

namespace atl {

struct Symbol {
  std::string_view name;
  u64 offset;  ///< of the address from the function's start
};

class SymbolTable {
 public:
  constexpr SymbolTable() = default;
  /// `starts[i]` is where the function named at `names + name_offsets[i]` (NUL-terminated) begins. The last
  /// entry has an empty name and stands where the code ends.
  constexpr SymbolTable(VirtAddr base, std::span<const u32> starts, std::span<const u32> name_offsets,
                        const char* names)
      : base_(base), starts_(starts), name_offsets_(name_offsets), names_(names) {}
  /// Of the words that tools/ksymbols.py writes: count, starts, name offsets, text. nullptr: an empty table.
  static SymbolTable from_words(VirtAddr base, const u32* words);

  /// The function that `address` lies in. Nothing before the first or past the end.
  std::optional<Symbol> find(VirtAddr address) const;
  usize size() const { return starts_.size(); }

 private:
  VirtAddr base_;
  std::span<const u32> starts_;
  std::span<const u32> name_offsets_;
  const char* names_ = nullptr;
};

struct PerCpuSymbol {
  std::string_view name;
  u32 offset;  ///< in a unit
  u32 size;    ///< bytes
};

/// The static per-CPU variables, in the order of their offsets.
class PerCpuSymbols {
 public:
  constexpr PerCpuSymbols() = default;
  /// Of the words that tools/ksymbols.py writes: count, offsets, sizes, name offsets, text. nullptr: none.
  explicit PerCpuSymbols(const u32* words) : words_(words) {}

  usize size() const { return words_ == nullptr ? 0 : words_[0]; }
  /// `index` < size().
  PerCpuSymbol operator[](usize index) const {
    const u32* offsets = words_ + 1;
    const u32* sizes = offsets + size();
    const u32* names = sizes + size();
    const auto* text = reinterpret_cast<const char*>(names + size());
    return {text + names[index], offsets[index], sizes[index]};
  }

 private:
  const u32* words_ = nullptr;
};

/// The image's own table, empty in the first link. Any context.
SymbolTable kernel_symbols();

}  // namespace atl
