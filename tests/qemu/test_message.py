"""Unit tests of the verdict on a boot that must refuse."""

import unittest
from typing import Optional

from tests.qemu.message import problems_of

STOPPED = ["atoll: 16K page", "", "atoll: this CPU has no 16K granule; stopped"]
PANICKED = ["panic: no device tree: none in x0", "panic: CPU 0 at a.cpp:1", "panic: end of report"]


class Refusal(unittest.TestCase):
    def problems(self, lines: list[str], status: Optional[int], *wanted: str) -> str:
        return "\n".join(problems_of(lines, status, wanted))

    def test_as_it_should_be(self) -> None:
        self.assertEqual(self.problems(STOPPED, None, "no 16K granule"), "")
        self.assertEqual(self.problems(PANICKED, 2, r"^panic: no device tree", "x0"), "")

    def test_another_message(self) -> None:
        self.assertEqual(self.problems(STOPPED, None, "no 4K granule"), "no line matches `no 4K granule`")

    def test_goes_on(self) -> None:
        for line in ("atoll> ", "atoll: all runs passed", "atoll: FAILED (1 failures)", "KTAP version 1"):
            self.assertIn(f"went on: {line}", self.problems([*STOPPED, line], None))
            self.assertIn(f"went on: {line}", self.problems([line, *PANICKED], 2))

    def test_says_more_after_it_stopped(self) -> None:
        self.assertEqual(self.problems([*STOPPED, "boot: x"], None),
                         "neither stopped nor ended; the last line: boot: x")
        self.assertEqual(self.problems([], None), "neither stopped nor ended; the last line: nothing")

    def test_a_panic_that_hangs_or_looks_like_success(self) -> None:
        self.assertIn("neither stopped nor ended", self.problems(PANICKED, None))
        self.assertEqual(self.problems(PANICKED, 0), "QEMU exited with status 0, not 2")
        self.assertEqual(self.problems(PANICKED[:2], 2), f"the last line is not `{PANICKED[2]}`: {PANICKED[1]}")

    def test_a_stop_that_ends_the_machine(self) -> None:
        self.assertEqual(self.problems(STOPPED, 0), "QEMU exited with status 0, not 2")


if __name__ == "__main__":
    unittest.main()
