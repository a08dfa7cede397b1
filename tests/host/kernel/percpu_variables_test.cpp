#include "kernel/percpu_variables.hpp"

#include <array>
#include <cstring>

#include "tests/host/support.hpp"

namespace atl {
namespace {

/// As tools/ksymbols.py lays it out: count, offsets, sizes, name offsets, text.
struct Table {
  u32 words[13] = {4, 0x0, 0x4, 0x10, 0x20, 4, 3, 12, 8192, 0, 11, 17};
  char text[40] = "cpu_number\0bytes\0words\0stack";
  constexpr Table() { words[12] = 23; }
};

class PerCpuVariables : public ::testing::Test {
 protected:
  PerCpuVariables() {
    const u32 number = 3;
    std::memcpy(unit_.data(), &number, sizeof(number));
    for (unsigned i = 0; i < 3; ++i) {
      unit_[4 + i] = std::byte(0xa0 + i);
      const u32 word = 0x1000 + i;
      std::memcpy(unit_.data() + 0x10 + 4 * i, &word, sizeof(word));
    }
    const u64 last_shown = ~u64{0};
    std::memcpy(unit_.data() + 0x20 + 56, &last_shown, sizeof(last_shown));
  }
  std::string print(std::string_view pattern, CommandResult expected = 0) {
    static constexpr Table kTable;
    host::CapturedPrint printed;
    EXPECT_EQ(print_variables(PerCpuSymbols(kTable.words), unit_.data(), pattern), expected);
    return printed.text();
  }
  alignas(64) std::array<std::byte, 0x20 + 8192> unit_{};
};

TEST_F(PerCpuVariables, WordsAreAsWideAsTheSizeDivides) {
  EXPECT_EQ(print("cpu*"), "  +0x0000     4  cpu_number = 0x3\n");
  EXPECT_EQ(print("bytes"), "  +0x0004     3  bytes = 0xa0 0xa1 0xa2\n");
  EXPECT_EQ(print("words"), "  +0x0010    12  words = 0x1000 0x1001 0x1002\n");
}

TEST_F(PerCpuVariables, LongOnesAreCut) {
  EXPECT_EQ(print("stack"),
            "  +0x0020  8192  stack = 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0xffffffffffffffff and 8128 bytes more\n");
}

TEST_F(PerCpuVariables, AllInTheirOrderOrNone) {
  const std::string all = print("*");
  EXPECT_LT(all.find("cpu_number"), all.find("bytes"));
  EXPECT_LT(all.find("words"), all.find("stack"));
  EXPECT_EQ(print("nothing", CommandResult::refused()), "no per-CPU variable matches \"nothing\"\n");
}

}  // namespace
}  // namespace atl
