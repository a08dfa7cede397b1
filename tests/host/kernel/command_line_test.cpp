#include "kernel/command_line.hpp"

#include <string>
#include <vector>

#include "tests/host/support.hpp"

namespace atl {
namespace {

struct Parsed {
  KernelOptions options;
  std::string notes;
};

Parsed parse(std::string_view text) {
  host::StringSink notes;
  const KernelOptions options = parse_command_line(text, notes);
  return {options, notes.text()};
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> list;
  CommandLineReader reader(text);
  while (const auto word = reader.next()) {
    list.push_back(std::string(word->name) + (word->value ? "=" + std::string(*word->value) : ""));
  }
  return list;
}

TEST(CommandLineReader, WordsValuesAndQuotes) {
  using List = std::vector<std::string>;
  EXPECT_EQ(words(""), List{});
  EXPECT_EQ(words("  \t\n"), List{});
  EXPECT_EQ(words("quiet  a=1\tb=\n"), (List{"quiet", "a=1", "b="}));
  EXPECT_EQ(words("a=\"x y\" b"), (List{"a=x y", "b"}));
  EXPECT_EQ(words("\"a=x y\" b"), (List{"a=x y", "b"}));
  EXPECT_EQ(words("a=b=c"), (List{"a=b=c"}));
  EXPECT_EQ(words("a=\"never closed b"), (List{"a=never closed b"}));
  EXPECT_EQ(words("a -- b"), (List{"a"}));
  EXPECT_EQ(words("=x"), (List{"=x"}));
}

TEST(CommandLine, NothingGivesTheDefaults) {
  EXPECT_EQ(parse("").options, KernelOptions());
  EXPECT_EQ(parse("").notes, "");
}

TEST(CommandLine, EveryOption) {
  const auto [options, notes] =
      parse("run=selftest,poweroff selftest=percpu* mem=512M maxcpus=4 lse=off earlycon=pl011,0x9000000");
  EXPECT_EQ(options.run, "selftest,poweroff");
  EXPECT_EQ(options.selftest, "percpu*");
  EXPECT_EQ(options.mem, 512_MiB);
  EXPECT_EQ(options.maxcpus, 4u);
  EXPECT_FALSE(options.lse);
  EXPECT_EQ(options.earlycon, PhysAddr(0x9000000));
  EXPECT_EQ(notes, "");
  EXPECT_EQ(parse("earlycon").options.earlycon, std::nullopt);
  EXPECT_EQ(parse("earlycon=pl011,0x10 earlycon").options.earlycon, std::nullopt);
  EXPECT_EQ(parse("earlycon=pl011,mmio32,0x10").options.earlycon, PhysAddr(0x10));
}

TEST(CommandLine, LastOfSeveralWins) {
  EXPECT_EQ(parse("maxcpus=2 maxcpus=3").options.maxcpus, 3u);
  EXPECT_EQ(parse("maxcpus=2 maxcpus=x").options.maxcpus, std::nullopt);
}

TEST(CommandLine, BadValuesAreNamedAndGiveTheDefault) {
  for (const char* text :
       {"mem=", "mem=12Q", "mem", "mem=0", "mem=99999999999T", "maxcpus=-1", "maxcpus=4294967296",
        "lse=maybe", "earlycon=8250,0x10", "earlycon=pl011,", "earlycon=pl011,0x12", "run=", "selftest="}) {
    const auto [options, notes] = parse(text);
    EXPECT_EQ(options, KernelOptions()) << text;
    EXPECT_NE(notes.find("default used"), std::string::npos) << text;
  }
  EXPECT_EQ(parse("mem=12Q").notes, "command line: mem=12Q: expected a size such as 512M; default used\n");
}

TEST(CommandLine, UnknownNamesAreReportedOnce) {
  EXPECT_EQ(parse("quiet root=/dev/vda quiet quiet=2").notes,
            "command line: \"quiet\" is unknown; ignored\ncommand line: \"root\" is unknown; ignored\n");
}

TEST(CommandLine, HostileTextIsBoundedAndNeverPrintedRaw) {
  EXPECT_EQ(parse("\x1b[2J\x07=1 mem=\x1b]0;x\x07").notes,
            "command line: \"?[2J?\" is unknown; ignored\n"
            "command line: mem=?]0;x?: expected a size such as 512M; default used\n");
  // A line break inside quotes is part of the word, and must not make a line of its own.
  EXPECT_EQ(parse("\"x\natoll: all runs passed\"").notes,
            "command line: \"x?atoll: all runs passed\" is unknown; ignored\n");
  EXPECT_EQ(parse(std::string(2048, 'w')).notes,
            "command line: \"" + std::string(64, 'w') + "...\" is unknown; ignored\n");
  EXPECT_EQ(parse("mem=99999999999999999999 maxcpus=-1 mem=-1").options, KernelOptions());
  for (const char* text : {"\"", "\"\"\"", "=", "==", "\"=\"", "\"a", "mem=\"", "\"mem=1G",
                           "a=\"b\" \"c\"=\"d", "--", "-- mem=1G"}) {
    static_cast<void>(parse(text));
  }
  EXPECT_EQ(parse("\"mem=1G").options.mem, 1_GiB);
  EXPECT_EQ(parse("mem=1G mem=2G mem=3G").options.mem, 3_GiB);
  EXPECT_EQ(parse("mem=1G -- mem=2G").options.mem, 1_GiB);
}

TEST(CommandLine, DashAndUnderscoreAreTheSame) {
  EXPECT_EQ(parse("a-b a_b").notes, "command line: \"a-b\" is unknown; ignored\n");
}

TEST(ParseNumber, DecimalHexadecimalAndBounds) {
  EXPECT_EQ(parse_number("0"), 0u);
  EXPECT_EQ(parse_number("18446744073709551615"), ~u64{0});
  EXPECT_EQ(parse_number("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_number("0xffffffffffffffff"), ~u64{0});
  EXPECT_EQ(parse_number("0x10000000000000000"), std::nullopt);
  EXPECT_EQ(parse_number("0xFf"), 255u);
  for (const char* text : {"", "0x", "-1", "+1", " 1", "1 ", "1a", "0xg"})
    EXPECT_EQ(parse_number(text), std::nullopt);
  EXPECT_EQ(parse_number("5", 4), std::nullopt);
}

TEST(ParseSize, SuffixesAndOverflow) {
  EXPECT_EQ(parse_size("1k"), 1_KiB);
  EXPECT_EQ(parse_size("0x10M"), 16_MiB);
  EXPECT_EQ(parse_size("3G"), 3_GiB);
  EXPECT_EQ(parse_size("2t"), 2_TiB);
  EXPECT_EQ(parse_size("1048580K"), 1048580_KiB);
  EXPECT_EQ(parse_size("16777216T"), std::nullopt);
  EXPECT_EQ(parse_size("16777215T"), 16777215_TiB);
  EXPECT_EQ(parse_size("K"), std::nullopt);
}

}  // namespace
}  // namespace atl
