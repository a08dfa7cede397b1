#include "lib/format.hpp"

#include <array>
#include <limits>
#include <string>

#include "tests/host/support.hpp"

namespace atl {
namespace {

using host::formatted;

static_assert(count_fields("") == 0);
static_assert(count_fields("{} {:x} {:#018x} {:4s}") == 4);
static_assert(count_fields("{{}}") == 0);
static_assert(count_fields("{{{}}}") == 1);
static_assert(count_fields("{") == -1);
static_assert(count_fields("}") == -1);
static_assert(count_fields("{x}") == -1, "a spec begins with a colon");
static_assert(count_fields("{:q}") == -1);
static_assert(count_fields("{:x#}") == -1);
static_assert(count_fields("{:xx}") == -1);

TEST(Format, TextAlone) {
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted("plain"), "plain");
  EXPECT_EQ(formatted("{{}} {{x}}"), "{} {x}");
}

TEST(Format, Decimal) {
  EXPECT_EQ(formatted("{} of {}", 3u, 160u), "3 of 160");
  EXPECT_EQ(formatted("{}", std::numeric_limits<u64>::max()), "18446744073709551615");
  EXPECT_EQ(formatted("{}", std::numeric_limits<i64>::min()), "-9223372036854775808");
  EXPECT_EQ(formatted("{} {}", static_cast<signed char>(-1), static_cast<u8>(255)), "-1 255");
  EXPECT_EQ(formatted("{}", 0), "0");
}

TEST(Format, Hexadecimal) {
  EXPECT_EQ(formatted("{:x} {:#x}", 0xdeadbeefu, 255), "deadbeef 0xff");
  EXPECT_EQ(formatted("{:#018x}", u64{0x1234}), "0x0000000000001234");
  EXPECT_EQ(formatted("{:#x}", i64{-1}), "0xffffffffffffffff");
}

TEST(Format, Width) {
  EXPECT_EQ(formatted("[{:5}] [{:05}]", 42, 42), "[   42] [00042]");
  EXPECT_EQ(formatted("[{:05}]", -42), "[-0042]");
  EXPECT_EQ(formatted("[{:5}]", -42), "[  -42]");
  EXPECT_EQ(formatted("[{:2}]", 12345), "[12345]");
  EXPECT_EQ(formatted("[{:6s}] [{:2s}]", "abc", "abc"), "[abc   ] [abc]");
  EXPECT_EQ(formatted("[{:#6x}]", 10), "[   0xa]");
}

TEST(Format, LongTextFromOutsideIsCut) {
  EXPECT_EQ(formatted("[{}]", ForeignText{"short"}), "[short]");
  EXPECT_EQ(formatted("{}", ForeignText{std::string(64, 'x')}), std::string(64, 'x'));
  EXPECT_EQ(formatted("{}", ForeignText{std::string(2048, 'x')}), std::string(64, 'x') + "...");
}

TEST(Format, OtherKinds) {
  EXPECT_EQ(formatted("{} {}", true, false), "true false");
  EXPECT_EQ(formatted("{}{}", 'o', 'k'), "ok");
  EXPECT_EQ(formatted("{:d} {:x}", 'A', 'A'), "65 41");
  EXPECT_EQ(formatted("{:c}", 65u), "A");
  EXPECT_EQ(formatted("{} {}", PhysAddr(0x4000'0000), VirtAddr(~u64{0})), "0x40000000 0xffffffffffffffff");
  EXPECT_EQ(formatted("{}", reinterpret_cast<const int*>(0x1000)), "0x1000");
  EXPECT_EQ(formatted("{}", static_cast<const char*>(nullptr)), "(null)");
  EXPECT_EQ(formatted("{}|{}", std::string_view("ab", 2), std::string_view()), "ab|");
}

TEST(Format, TextFromOutsideDoesNotReachTheTerminal) {
  EXPECT_EQ(host::formatted("{}\n", std::string_view("a\nb\x1b[2J\x7f\xc3\xa4\0", 11)), "a?b?[2J????\n")
      << "control characters of an argument were written";
  EXPECT_EQ(host::formatted("{:4}|{}{}", "\n", '\a', '\n'), "?   |\a\n");
}

TEST(Format, TooFewArgumentsAtRunTimeLoseNothing) {
  host::StringSink sink;
  format_to(sink, "a {} b {} c", std::array{FormatArgument(1)});
  EXPECT_EQ(sink.text(), "a 1 b {} c");
}

TEST(BufferSink, CutsAndTerminates) {
  std::array<char, 8> buffer;
  buffer.fill('#');
  BufferSink sink(buffer);
  EXPECT_EQ(buffer[0], '\0');
  format(sink, "{}-{}", "abc", 12);
  EXPECT_EQ(sink.text(), "abc-12");
  EXPECT_FALSE(sink.truncated());
  sink.write("xyz");
  EXPECT_EQ(sink.text(), "abc-12x");
  EXPECT_STREQ(buffer.data(), "abc-12x");
  EXPECT_TRUE(sink.truncated());
}

TEST(BufferSink, ExactFitIsNotCut) {
  std::array<char, 4> buffer;
  BufferSink sink(buffer);
  sink.write("abc");
  EXPECT_FALSE(sink.truncated());
  EXPECT_STREQ(buffer.data(), "abc");
}

TEST(BufferSink, NoRoomAtAll) {
  BufferSink sink({});
  sink.write("");
  EXPECT_FALSE(sink.truncated());
  sink.write("x");
  EXPECT_TRUE(sink.truncated());
  EXPECT_EQ(sink.text(), "");
}

TEST(Print, GoesToTheSink) {
  host::CapturedPrint captured;
  print("{}/{} CPUs online\n", 160, 160);
  EXPECT_EQ(captured.text(), "160/160 CPUs online\n");
}

TEST(Print, WithoutASinkIsDropped) {
  const host::CapturedPrint restores_the_sink_afterwards;
  set_print_sink(nullptr);
  print("nobody hears {}\n", "this");
}

}  // namespace
}  // namespace atl
