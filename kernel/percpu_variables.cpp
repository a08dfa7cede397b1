#include "kernel/percpu_variables.hpp"

#include <algorithm>
#include <bit>

#include "kernel/glob.hpp"
#include "lib/format.hpp"

namespace atl {
namespace {

constexpr usize kMostWords = 8;

template <class Word>
void print_words(const std::byte* bytes, usize count) {
  for (usize i = 0; i < count; ++i) {
    Word word;
    __builtin_memcpy(&word, bytes + i * sizeof(word), sizeof(word));
    print(" {:#x}", word);
  }
}

void print_value(const std::byte* bytes, usize size) {
  const usize width = usize{1} << std::min(std::countr_zero(size), 3);
  const usize count = std::min(size / width, kMostWords);
  switch (width) {
    case 1: print_words<u8>(bytes, count); break;
    case 2: print_words<u16>(bytes, count); break;
    case 4: print_words<u32>(bytes, count); break;
    default: print_words<u64>(bytes, count); break;
  }
  if (count * width < size) print(" and {} bytes more", size - count * width);
}

}  // namespace

CommandResult print_variables(const PerCpuSymbols& symbols, const std::byte* unit, std::string_view pattern) {
  bool found = false;
  for (usize i = 0; i < symbols.size(); ++i) {
    const PerCpuSymbol symbol = symbols[i];
    if (!glob_match(pattern, symbol.name)) continue;
    found = true;
    print("  +{:#06x} {:5}  {} =", symbol.offset, symbol.size, symbol.name);
    print_value(unit + symbol.offset, symbol.size);
    print("\n");
  }
  if (found) return 0;
  print("no per-CPU variable matches \"{}\"\n", pattern);
  return CommandResult::refused();
}

}  // namespace atl
