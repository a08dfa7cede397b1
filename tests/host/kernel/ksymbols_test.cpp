#include "kernel/ksymbols.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace atl {
namespace {

constexpr VirtAddr kBase{0xffff'ffff'f800'0000};

/// As tools/ksymbols.py lays it out: count, starts, name offsets, text.
struct Table {
  u32 words[7] = {3, 0x40, 0x100, 0x180, 0, 6, 13};
  char text[16] = "first\0second\0";
};

TEST(Ksymbols, FindsTheFunctionAndTheOffset) {
  static const Table table;
  const SymbolTable symbols = SymbolTable::from_words(kBase, table.words);
  ASSERT_EQ(symbols.size(), 3u);
  const auto name_at = [&](u64 offset) {
    const auto symbol = symbols.find(kBase + offset);
    return symbol ? std::string(symbol->name) + "+" + std::to_string(symbol->offset) : "none";
  };
  EXPECT_EQ(name_at(0x3f), "none");
  EXPECT_EQ(name_at(0x40), "first+0");
  EXPECT_EQ(name_at(0xff), "first+191");
  EXPECT_EQ(name_at(0x100), "second+0");
  EXPECT_EQ(name_at(0x17f), "second+127");
  EXPECT_EQ(name_at(0x180), "none");
  EXPECT_EQ(name_at(0x1'0000'0040), "none") << "offsets beyond 32 bits must not wrap";
  EXPECT_FALSE(symbols.find(kBase - 1));
  EXPECT_FALSE(symbols.find(VirtAddr(0)));
}

TEST(Ksymbols, PerCpuVariablesInTheirOrder) {
  static const struct {
    u32 words[7] = {2, 0x0, 0x40, 4, 24, 0, 7};
    char text[16] = "number\0request";
  } table;
  const PerCpuSymbols symbols(table.words);
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0].name, "number");
  EXPECT_EQ(symbols[0].offset, 0u);
  EXPECT_EQ(symbols[0].size, 4u);
  EXPECT_EQ(symbols[1].name, "request");
  EXPECT_EQ(symbols[1].offset, 0x40u);
  EXPECT_EQ(symbols[1].size, 24u);
  EXPECT_EQ(PerCpuSymbols().size(), 0u);
}

TEST(Ksymbols, TheFirstLinkHasAnEmptyTable) {
  EXPECT_FALSE(SymbolTable::from_words(kBase, nullptr).find(kBase));
  EXPECT_EQ(kernel_symbols().size(), 0u);
}

}  // namespace
}  // namespace atl
