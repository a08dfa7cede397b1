"""Unit tests of the choice of mutants and of what their endings are taken for."""

import argparse
import collections
import unittest

from tests.fuzz.boots import BASES, choose, named
from tests.fuzz.endings import Ending, by_console, by_status

PANIC = ["panic: boot: the device tree names no virtual timer", "panic: CPU 0 at a.cpp:1; stopped 0 of 3 other CPUs"]


class ByStatus(unittest.TestCase):
    def test_clean_endings(self) -> None:
        self.assertIs(by_status(0, ["atoll: 4K page", "atoll: all runs passed\r"]), Ending.PASSED)
        self.assertIs(by_status(1, ["atoll: FAILED (1 failures)", ""]), Ending.FAILED)
        self.assertIs(by_status(2, [*PANIC, "panic: end of report"]), Ending.PANIC)

    def test_a_status_needs_its_line(self) -> None:
        self.assertIs(by_status(0, ["atoll: 4K page"]), Ending.WRONG)
        self.assertIs(by_status(0, ["atoll: FAILED (1 failures)"]), Ending.WRONG)
        self.assertIs(by_status(1, ["atoll: all runs passed"]), Ending.WRONG)
        self.assertIs(by_status(2, PANIC), Ending.WRONG)
        self.assertIs(by_status(2, ["panic: end of report"]), Ending.WRONG)
        self.assertIs(by_status(2, []), Ending.WRONG)

    def test_other_statuses(self) -> None:
        self.assertIs(by_status(255, ["atoll: all runs passed"]), Ending.WRONG)
        self.assertIs(by_status(-6, [*PANIC, "panic: end of report"]), Ending.WRONG)

    def test_what_is_clean(self) -> None:
        self.assertEqual([ending for ending in Ending if not ending.is_clean], [Ending.WRONG, Ending.HUNG])


class ByConsole(unittest.TestCase):
    def test_the_prompt(self) -> None:
        self.assertIs(by_console("smp: 4/4 CPUs online\r\natoll> "), Ending.PROMPT)
        self.assertIsNone(by_console("atoll> help\n  help  this list\n"))

    def test_stopped(self) -> None:
        self.assertIs(by_console("atoll: this CPU has no 16K granule (x = 0); stopped\r\n"), Ending.STOPPED)
        self.assertIsNone(by_console("atoll: this CPU has no 16K granule (x = 0); stop"))
        self.assertIsNone(by_console("atoll: this CPU has no 16K granule (x = 0); stopped\nmore\n"))
        self.assertIsNone(by_console(PANIC[1] + "\n"))

    def test_nothing(self) -> None:
        self.assertIsNone(by_console(""))


class Choice(unittest.TestCase):
    def test_the_same_for_the_same_seed(self) -> None:
        self.assertEqual(choose(50, 7, []), choose(50, 7, []))
        self.assertEqual([boot.seed for boot in choose(3, 7, [])], [7, 8, 9])

    def test_shares(self) -> None:
        turns = sum(base.share for base in BASES)
        counts = collections.Counter(boot.base for boot in choose(turns * 5, 1, []))
        self.assertEqual(counts, {base: base.share * 5 for base in BASES})
        self.assertEqual({boot.base for boot in choose(20, 1, [])}, set(BASES), "a short run leaves a base out")

    def test_filter(self) -> None:
        self.assertEqual({boot.base.name for boot in choose(10, 1, ["16*"])}, {"16k"})
        self.assertEqual(choose(10, 1, ["none*"]), [])

    def test_a_name_gives_the_boot(self) -> None:
        for boot in choose(20, 100, []):
            self.assertEqual(named(boot.name), boot)
        for wrong in ("gicv3", "gicv3-", "gic-3", "-3"):
            with self.assertRaises(argparse.ArgumentTypeError):
                named(wrong)


if __name__ == "__main__":
    unittest.main()
