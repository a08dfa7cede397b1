#include "kernel/line_editor.hpp"

#include <string>

#include "tests/host/support.hpp"

namespace atl {
namespace {

struct Typed {
  std::string text;
  std::string echo;
  LineEditor::State state;
};

Typed type(std::string_view keys, usize room = 80) {
  host::CapturedPrint echo;
  std::string buffer(room, '?');
  LineEditor editor(buffer);
  auto state = LineEditor::State::editing;
  for (char c : keys) state = editor.feed(c);
  return {std::string(editor.text()), echo.text(), state};
}

TEST(LineEditor, TakesALine) {
  const Typed typed = type("help\r");
  EXPECT_EQ(typed.text, "help");
  EXPECT_EQ(typed.echo, "help\n");
  EXPECT_EQ(typed.state, LineEditor::State::complete);
  EXPECT_EQ(type("x\n").state, LineEditor::State::complete);
  EXPECT_EQ(type("x").state, LineEditor::State::editing);
}

TEST(LineEditor, BackspaceAndDeleteTakeOneBack) {
  EXPECT_EQ(type("ab\b\x7f"
                 "c")
                .text,
            "c");
  EXPECT_EQ(type("a\b").echo, "a\b \b");
  EXPECT_EQ(type("\b\b").echo, "") << "nothing to take back";
}

TEST(LineEditor, KeysThatSendEscapeSequencesOnlyRingTheBell) {
  EXPECT_EQ(type("a\x1b[Ab\x1b[1;5Cc\x1bOPd\x1bxe").text, "abcde");
  EXPECT_EQ(type("a\x1b[A").echo, "a\a");
  EXPECT_EQ(type("a\x1b[12\r").state, LineEditor::State::complete) << "a line's end ends everything";
  EXPECT_EQ(type("a\x1b[1\x1b[Ab").text, "ab");
}

TEST(LineEditor, ControlUTakesAllBack) {
  EXPECT_EQ(type("abc\x15"
                 "d")
                .text,
            "d");
  EXPECT_EQ(type("ab\x15").echo, "ab\b \b\b \b");
}

TEST(LineEditor, ControlCCancels) {
  const Typed typed = type("abc\x03");
  EXPECT_EQ(typed.text, "");
  EXPECT_EQ(typed.state, LineEditor::State::cancelled);
}

TEST(LineEditor, ALineThatIsFullAndOtherControlsRingTheBell) {
  const Typed full = type("abcd", 3);
  EXPECT_EQ(full.text, "abc");
  EXPECT_EQ(full.echo, "abc\a");
  EXPECT_EQ(type("\x1b\xc3").text, "");
}

TEST(InputRing, KeepsOrderDropsWhatDoesNotFitAndWraps) {
  InputRing ring;
  EXPECT_TRUE(ring.empty());
  for (int round = 0; round < 3; ++round) {
    int pushed = 0;
    while (ring.push(static_cast<char>('a' + pushed % 26))) ++pushed;
    EXPECT_EQ(pushed, 256);
    for (int i = 0; i < pushed; ++i) EXPECT_EQ(ring.pop(), static_cast<char>('a' + i % 26));
    EXPECT_EQ(ring.pop(), std::nullopt);
  }
}

}  // namespace
}  // namespace atl
