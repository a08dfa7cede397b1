"""Unit tests of the KTAP parser: each rule has a console that breaks just that rule."""

import unittest

from tests.qemu import ktap

GOOD = ["atoll: 4K page, 48-bit VA, percpu=local, gcc", "KTAP version 1", "1..3", "# noise", "ok 1 first",
        "ok 2 second # SKIP no LSE on this CPU", "smp: noise between", "ok 3 third", ktap.PASS_MARKER]


def with_line(index: int, *replacement: str) -> list[str]:
    return [*GOOD[:index], *replacement, *GOOD[index + 1:]]


class Parse(unittest.TestCase):
    def test_a_good_run(self) -> None:
        report = ktap.parse(GOOD)
        self.assertEqual(report.problems, [])
        self.assertEqual(report.planned, 3)
        self.assertTrue(report.is_complete)
        self.assertEqual([test.status.value for test in report.tests], ["passed", "skipped", "passed"])
        self.assertEqual(report.tests[1].note, "no LSE on this CPU")

    def test_incomplete_until_the_last_result(self) -> None:
        self.assertFalse(ktap.parse(GOOD[:7]).is_complete)
        self.assertTrue(ktap.parse(GOOD[:8]).is_complete)

    def test_form(self) -> None:
        for lines, problem in [
                (with_line(1), "no KTAP version line"),
                (with_line(1, "KTAP version 2"), "KTAP version 2"),
                (with_line(2), "no plan"),
                (with_line(2), "first comes before the plan"),
                (with_line(2, "1..4"), "4 tests planned, 3 run"),
                (with_line(2, "1..2"), "2 tests planned, 3 run"),
                (with_line(3, "1..3"), "a second plan"),
                (with_line(4, "1..3", "ok 1 first"), "a second plan"),
                (with_line(8, "1..3"), "the plan comes after the first result"),
                (with_line(8, "KTAP version 1"), "a second KTAP run"),
                (with_line(7), "3 tests planned, 2 run"),
                (with_line(7, "ok 4 third"), "test third has number 4, not 3"),
                (with_line(7, "ok 3 first"), "test first is reported twice"),
                (with_line(7, "ok third"), "malformed result line"),
                (with_line(7, "not ok 3 third"), "fails without saying why"),
                (["KTAP version 1", "1..0"], "an empty plan"),
        ]:
            with self.subTest(problem=problem):
                self.assertIn(problem, "\n".join(ktap.parse(lines).problems))


class Judge(unittest.TestCase):
    def problems(self, lines: list[str], status: int | None = 0, skips: tuple[str, ...] = ("no LSE*",)) -> str:
        return "\n".join(ktap.judge(lines, status, skips))

    def test_pass(self) -> None:
        self.assertEqual(self.problems(GOOD), "")

    def test_unlisted_skip(self) -> None:
        self.assertIn("second was skipped (no LSE on this CPU)", self.problems(GOOD, skips=("needs *",)))

    def test_both_status_and_marker_are_needed(self) -> None:
        self.assertIn("no line `atoll: all runs passed`", self.problems(GOOD[:8]))
        self.assertIn("status 1", self.problems(GOOD, status=1))
        self.assertIn("QEMU did not exit", self.problems(GOOD, status=None))

    def test_marker_must_be_a_whole_line(self) -> None:
        self.assertIn("no line", self.problems(with_line(8, "not " + ktap.PASS_MARKER)))

    def test_failure_and_panic(self) -> None:
        self.assertIn("third: lost 2 IPIs", self.problems(with_line(7, "not ok 3 third # lost 2 IPIs")))
        self.assertIn("panic: no stack", self.problems(with_line(3, "panic: no stack")))
        self.assertIn("FAILED (1 failures)", self.problems(with_line(3, "atoll: FAILED (1 failures)")))


if __name__ == "__main__":
    unittest.main()
