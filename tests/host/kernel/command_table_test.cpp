#include "kernel/command_table.hpp"

#include <array>
#include <string>

#include "tests/host/support.hpp"

namespace atl {
namespace {

std::string log;

unsigned note(std::string_view arguments) {
  log += "[" + std::string(arguments) + "]";
  return 0;
}
unsigned fail_twice(std::string_view) { return 2; }

constexpr std::array kCommands{
    Command{"note", "notes its arguments", note},
    Command{"fail", "fails two things", fail_twice},
};

class CommandTable : public ::testing::Test {
 protected:
  void SetUp() override { log.clear(); }
  host::CapturedPrint printed_;
};

TEST_F(CommandTable, PassesTheRestOfTheLine) {
  EXPECT_EQ(run_line(kCommands, "  note  a b\t"), 0u);
  EXPECT_EQ(run_line(kCommands, "note"), 0u);
  EXPECT_EQ(log, "[a b][]");
}

TEST_F(CommandTable, BlankLinesDoNothing) {
  EXPECT_EQ(run_line(kCommands, ""), 0u);
  EXPECT_EQ(run_line(kCommands, " \t"), 0u);
  EXPECT_EQ(printed_.text(), "");
}

TEST_F(CommandTable, UnknownCommandsAreNamedAndCount) {
  EXPECT_EQ(run_line(kCommands, "notes x"), 1u);
  EXPECT_EQ(printed_.text(), "unknown command \"notes\"; `help` lists them\n");
}

TEST_F(CommandTable, ListsRunToTheEndAndSumUp) {
  unsigned failures = 1;
  EXPECT_EQ(run_list(kCommands, "fail,nothing,note 1,,note 2,", failures), 3u);
  EXPECT_EQ(failures, 4u);
  EXPECT_EQ(log, "[1][2]");
}

TEST_F(CommandTable, HelpIsAligned) {
  print_help(kCommands);
  EXPECT_EQ(printed_.text(), "  note        notes its arguments\n  fail        fails two things\n");
}

}  // namespace
}  // namespace atl
