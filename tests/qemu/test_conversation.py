"""Unit tests of the conversation and its verdict, with a model of the monitor in the kernel's place."""

import re
import unittest
from collections.abc import Callable
from typing import Optional

from tests.qemu import conversation

_ESCAPE = re.compile(r"\x1b\[[0-?]*[@-~]")


def typed_lines() -> list[str]:
    return conversation.TYPED.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]


def edited(line: str) -> str:
    """The line as the monitor gets it; all before a ^C was another."""
    text = ""
    for character in _ESCAPE.sub("", line.split("\x03")[-1]):
        if character in "\b\x7f":
            text = text[:-1]
        elif character == "\x15":
            text = ""
        elif " " <= character < "\x7f":
            text += character
    return text[:128]


def answers(lines: list[str]) -> list[str]:
    console = []
    for line in map(edited, lines):
        console.append(f"atoll> {line}")
        words = line.split()
        if words == ["poweroff"]:
            console.append("atoll: all runs passed")
        elif words == ["cpus"]:
            console += ["  cpu 0 mpidr 0x0 online", "4 of 4 CPUs online"]
        elif words[:1] == ["ptdump"]:
            console.append(f'no CPU "{words[1]}" with a root')
        elif words[:1] == ["selftest"]:
            console.append(f'# no selftest matches "{words[1]}"')
        elif words[:1] == ["panic"]:
            console.append("no such panic")
        elif words:
            console.append(f'unknown command "{words[0]}"; `help` lists them')
    return console


class Conversation(unittest.TestCase):
    def problems(self, change: Callable[[list[str]], list[str]] = list, status: Optional[int] = 0) -> str:
        return "\n".join(conversation.problems_of(answers(change(typed_lines())), status))

    def test_as_it_should_be(self) -> None:
        self.assertEqual(self.problems(), "")

    def test_it_is_more_than_any_buffer_holds(self) -> None:
        self.assertGreater(len(conversation.TYPED), 4096)
        for end in ("\r\n", "\n\r", "\x15", "\x03", "\b", "\x7f", "\r   \n"):
            self.assertTrue(end in conversation.TYPED or end.strip() == "", repr(end))

    def test_lost(self) -> None:
        self.assertIn("command 18 of", self.problems(lambda lines: [line for line in lines if line != "line-17"]))
        self.assertIn("is nothing", self.problems(lambda lines: [line for line in lines if line != "line-399"]))
        self.assertIn("`cpus` ran 3 times, not 4",
                      self.problems(lambda lines: [line for at, line in enumerate(lines) if at != 1]))

    def test_lost_character(self) -> None:
        self.assertIn("command 18 of 410 should be `line-17`, and is `lne-17`",
                      self.problems(lambda lines: ["lne-17" if line == "line-17" else line for line in lines]))

    def test_twice_or_out_of_order(self) -> None:
        self.assertIn("should be `line-3`, and is `line-2`",
                      self.problems(lambda lines: [part for line in lines
                                                   for part in [line] * (1 + (line == "line-2"))]))
        self.assertIn("should be", self.problems(lambda lines: [*reversed(lines[:-1]), lines[-1]]))

    def test_the_rest_of_an_over_long_line_is_a_line(self) -> None:
        self.assertIn("and is `xxx", self.problems(lambda lines: [
            part for line in lines for part in ([line[:128], line[128:]] if line.startswith("over") else [line])]))

    def test_no_poweroff_or_a_failure(self) -> None:
        self.assertIn("no line `atoll: all runs passed`", self.problems(lambda lines: lines[:-1]))
        self.assertEqual(self.problems(status=1), "QEMU exited with status 1")
        self.assertEqual(self.problems(status=None), "QEMU did not exit")


if __name__ == "__main__":
    unittest.main()
