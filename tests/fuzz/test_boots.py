"""Unit tests of the choice of mutants and of what their endings are taken for."""

import argparse
import collections
import tempfile
import unittest

from pathlib import Path
from unittest import mock

from tests.fuzz import boots
from tests.fuzz.boots import BASES, Boot, Prepared, Result, choose, limit_after, named, run_all, summary
from tests.fuzz.endings import MAY_FAIL, Ending, by_console, by_status

KTAP = ["KTAP version 1", "1..1"]
PANIC = ["panic: boot: the device tree names no virtual timer", "panic: CPU 0 at a.cpp:1; stopped 0 of 3 other CPUs"]


class ByStatus(unittest.TestCase):
    def test_clean_endings(self) -> None:
        self.assertIs(by_status(0, ["atoll: 4K page", "atoll: all runs passed\r"]), Ending.PASSED)
        self.assertIs(by_status(1, [*KTAP, f"not ok 1 {MAY_FAIL[0]}", "atoll: FAILED (1 failures)", ""]),
                      Ending.FAILED)
        self.assertIs(by_status(2, [*PANIC, "panic: end of report"]), Ending.PANIC)

    def test_a_status_needs_its_line(self) -> None:
        self.assertIs(by_status(0, ["atoll: 4K page"]), Ending.WRONG)
        self.assertIs(by_status(0, ["atoll: FAILED (1 failures)"]), Ending.WRONG)
        self.assertIs(by_status(1, ["atoll: all runs passed"]), Ending.WRONG)
        self.assertIs(by_status(2, PANIC), Ending.WRONG)
        self.assertIs(by_status(2, ["panic: end of report"]), Ending.WRONG)
        self.assertIs(by_status(2, []), Ending.WRONG)

    def test_failures_need_a_reason_in_the_tree(self) -> None:
        for reason in ('unknown command "selftesu"; `help` lists them', '# no selftest matches "x"'):
            self.assertIs(by_status(1, [reason, "atoll: FAILED (1 failures)"]), Ending.FAILED)
        for lines in ([], [*KTAP, "not ok 1 case20_remap_is_seen_by_every_cpu"]):
            self.assertIs(by_status(1, [*lines, "atoll: FAILED (1 failures)"]), Ending.UNEXPLAINED)

    def test_a_panic_must_not_be_the_kernels_own_mistake(self) -> None:
        for message in ("assertion failed: a == b", "break-before-make: 0xffff000000200000 from 0x1 to 0x2",
                        "SError: the system reports a failed access, cause unknown"):
            self.assertIs(by_status(2, [f"panic: {message}", "panic: end of report"]), Ending.CRASH)
        nested = "panic: fault inside the report: data abort"
        self.assertIs(by_status(2, [*PANIC, nested, "panic: end of report"]), Ending.CRASH)
        self.assertIs(by_status(2, ["panic: data abort, current EL: external abort, read, at 0x8000", *PANIC[1:],
                                    "panic: end of report"]), Ending.PANIC)

    def test_other_statuses(self) -> None:
        self.assertIs(by_status(255, ["atoll: all runs passed"]), Ending.WRONG)
        self.assertIs(by_status(-6, [*PANIC, "panic: end of report"]), Ending.WRONG)

    def test_what_is_clean(self) -> None:
        self.assertEqual([ending for ending in Ending if not ending.is_clean],
                         [Ending.UNEXPLAINED, Ending.CRASH, Ending.WRONG, Ending.HUNG])


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


def result(ending: Ending, last: str = "", seed: int = 1) -> Result:
    return Result(Boot(BASES[0], seed), ending, 1.0, "", last)


class Repeats(unittest.TestCase):
    def run_of(self, *endings: Ending) -> Result:
        """What comes of one boot that ends so, and, where it is repeated, so."""
        boot = Boot(BASES[0], 1)
        with tempfile.TemporaryDirectory() as kept, mock.patch.object(boots, "KEPT", Path(kept)):
            left = list(endings)

            def run(_boot: Boot, _prepared: Prepared) -> Result:
                ending = left.pop(0)
                boot.log.write_text(ending.value)
                return result(ending)

            with mock.patch.object(boots, "run", run):
                found, = run_all([boot], {boot.base: Prepared(Path(), 1.0)}, 1)
            self.assertEqual(left, [])
            if found.hung_before:
                self.assertEqual(boot.hung_log.read_text(), Ending.HUNG.value)
            boots.keep_only_failures([found])
            self.assertEqual(boot.hung_log.exists(), found.hung_before)
            self.assertEqual(boot.log.exists(), found.is_kept)
            return found

    def test_only_a_hang_is_repeated(self) -> None:
        for ending in (Ending.PASSED, Ending.WRONG, Ending.CRASH):
            self.assertFalse(self.run_of(ending).hung_before)

    def test_a_hang_that_passes_alone_is_told_of_and_kept(self) -> None:
        found = self.run_of(Ending.HUNG, Ending.PASSED)
        self.assertIs(found.ending, Ending.PASSED)
        self.assertTrue(found.is_kept)
        self.assertIn("hung once, alone it ended: passed", "\n".join(summary([found])))
        self.assertEqual(boots.as_case(found).properties["hung_before"], 1)

    def test_a_hang_that_hangs_again_fails(self) -> None:
        found = self.run_of(Ending.HUNG, Ending.HUNG)
        self.assertTrue(boots.as_case(found).problems)

    def test_the_limit_follows_the_host_so_far(self) -> None:
        self.assertEqual([limit_after(seconds) for seconds in (1.0, 4.0, 100.0)], [10.0, 16.0, 30.0])


class Summary(unittest.TestCase):
    def test_panics_are_listed_by_message(self) -> None:
        text = "\n".join(summary([result(Ending.PANIC, f"data abort, read, at {at}") for at in ("0x8000", "0x9000")]))
        self.assertIn("2 panic: data abort, read, at #", text)


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
