#include "kernel/command_table.hpp"

#include <array>
#include <string>

#include "tests/host/support.hpp"

namespace atl {
namespace {

std::string log;

CommandResult note(std::string_view arguments) {
  log += "[" + std::string(arguments) + "]";
  return 0;
}
CommandResult fail_twice(std::string_view) { return 2; }
CommandResult refuse(std::string_view) { return CommandResult::refused(); }

constexpr std::array kCommands{
    Command{"note", "notes its arguments", note},
    Command{"fail", "fails two things", fail_twice},
    Command{"refuse", "takes no argument at all", refuse},
};

class CommandTable : public ::testing::Test {
 protected:
  void SetUp() override { log.clear(); }
  host::CapturedPrint printed_;
};

TEST_F(CommandTable, PassesTheRestOfTheLine) {
  EXPECT_EQ(run_line(kCommands, "  note  a b\t"), CommandResult(0));
  EXPECT_EQ(run_line(kCommands, "note"), CommandResult(0));
  EXPECT_EQ(log, "[a b][]");
}

TEST_F(CommandTable, BlankLinesDoNothing) {
  EXPECT_EQ(run_line(kCommands, ""), CommandResult(0));
  EXPECT_EQ(run_line(kCommands, " \t"), CommandResult(0));
  EXPECT_EQ(printed_.text(), "");
}

TEST_F(CommandTable, UnknownCommandsAreNamed) {
  EXPECT_EQ(run_line(kCommands, "notes x"), CommandResult::refused());
  EXPECT_EQ(printed_.text(), "unknown command \"notes\"; `help` lists them\n");
}

TEST_F(CommandTable, ListsRunToTheEndAndSumUp) {
  unsigned failures = 1;
  EXPECT_EQ(run_list(kCommands, "fail,nothing,note 1,,note 2,", failures), 3u);
  EXPECT_EQ(failures, 4u);
  EXPECT_EQ(log, "[1][2]");
}

TEST_F(CommandTable, AMistakeIsAFailureOfAListOnly) {
  EXPECT_EQ(run_line(kCommands, "refuse").failed(), 0u) << "a mistake at the prompt counts";
  unsigned failures = 0;
  EXPECT_EQ(run_list(kCommands, "refuse", failures), 1u) << "a mistake in a list passed";
}

TEST_F(CommandTable, HelpIsAligned) {
  print_help(kCommands);
  EXPECT_EQ(printed_.text(),
            "  note        notes its arguments\n  fail        fails two things\n"
            "  refuse      takes no argument at all\n");
}

}  // namespace
}  // namespace atl
