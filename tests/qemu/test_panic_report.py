"""Unit tests of the verdict on a panic's report."""

import unittest
from dataclasses import replace

from tests.qemu.panic_report import problems_of
from tests.qemu.spec import Panic

REPORT = """\
boot: online 29914 us

panic: data abort, at 0xffff000000001000 (vmalloc)
panic: CPU 2 in an exception; stopped 3 of 3 other CPUs
  sp  0xffff800000007cb0  pc  0xffff800000004204  spsr 0x60000205
  esr 0x96000047  far 0xffff000000001000
backtrace, innermost first:
  0xffff800000004204 store_there+0x14
  0xffff8000000054ac panic_on_request+0xbc
panic: end of report"""
EXPECTED = Panic(r"data abort, at 0x[0-9a-f]+ \(vmalloc\)", "store_there", cpu=2,
                 details=(r"at (0x[0-9a-f]+) \((.|\n)*  far \1\n",))


class PanicReport(unittest.TestCase):
    def problems(self, old: str = "", new: str = "", status: int = 2) -> str:
        self.assertIn(old, REPORT)
        return "\n".join(problems_of(REPORT.replace(old, new, 1).split("\n"), status, EXPECTED, cpus=4))

    def test_as_it_should_be(self) -> None:
        self.assertEqual(self.problems(), "")

    def test_status(self) -> None:
        self.assertEqual(self.problems(status=0), "QEMU exited with status 0, not 2")

    def test_the_end_is_the_end(self) -> None:
        end = "the last line is not the only `panic: end of report`"
        self.assertEqual(self.problems("panic: end", "panic: no end"), f"{end}\nmore than one report: "
                         "panic: no end of report")
        self.assertIn(end, self.problems("panic: end of report", "panic: end of report\natoll> "))
        self.assertIn(end, self.problems("backtrace", "panic: end of report\nbacktrace"))

    def test_no_report(self) -> None:
        self.assertIn("no panic report", "\n".join(problems_of(["atoll> "], 2, EXPECTED, cpus=4)))

    def test_another_message(self) -> None:
        self.assertIn("is not `panic: data abort", self.problems("(vmalloc)", "(user half)"))

    def test_a_second_report(self) -> None:
        self.assertEqual(self.problems("backtrace", "panic: fault inside the report: alas\nbacktrace"),
                         "more than one report: panic: fault inside the report: alas")

    def test_who_and_how_many_were_stopped(self) -> None:
        for wrong in ("CPU 1 in an exception; stopped 3 of 3", "CPU 2 in an exception; stopped 2 of 3",
                      "CPU 2 in an exception; stopped 2 of 2"):
            self.assertIn("CPU 2 should have stopped 3 of 3",
                          self.problems("CPU 2 in an exception; stopped 3 of 3", wrong))
        self.assertIn("does not say which CPU", self.problems("panic: CPU 2", "panic: CPU"))

    def test_any_cpu(self) -> None:
        anyone = replace(EXPECTED, cpu=None)
        self.assertEqual(problems_of(REPORT.replace("CPU 2", "CPU 1").split("\n"), 2, anyone, cpus=4), [])
        found = problems_of(REPORT.replace("stopped 3", "stopped 2").split("\n"), 2, anyone, cpus=4)
        self.assertIn("it should have stopped 3 of 3", "\n".join(found))

    def test_none_is_stopped(self) -> None:
        none = replace(EXPECTED, stops=False)
        self.assertEqual(problems_of(REPORT.replace("stopped 3", "stopped 0").split("\n"), 2, none, cpus=4), [])
        self.assertIn("should have stopped 0 of 3", "\n".join(problems_of(REPORT.split("\n"), 2, none, cpus=4)))

    def test_fault_inside_the_report(self) -> None:
        expected = Panic("first, \\{\\}", "", nested="data abort")
        lines = ["panic: first, {}", "", "panic: fault inside the report: data abort", "panic: end of report"]
        self.assertEqual(problems_of(lines, 2, expected, cpus=4), [])
        for wrong, message in ((lines[2:], "`panic: fault inside the report: data abort` is not `panic: first"),
                               (lines[:2] + lines[3:], "is not `panic: fault inside the report: data abort`"),
                               ([*lines[:3], "x", lines[3]], "4 lines in the report"),
                               (lines[:3], "not the only `panic: end of report`")):
            self.assertIn(message, "\n".join(problems_of(wrong, 2, expected, cpus=4)))

    def test_the_function_is_named(self) -> None:
        self.assertEqual(self.problems("store_there+0x14", ""), "no store_there in the backtrace")

    def test_details_agree_with_each_other(self) -> None:
        self.assertIn("nothing in the report matches", self.problems("far 0xffff000000001000",
                                                                     "far 0xffff000000002000"))


if __name__ == "__main__":
    unittest.main()
