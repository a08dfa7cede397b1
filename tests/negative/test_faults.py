"""Unit tests of the table of faults and of the verdicts on a planted fault."""

import re
import unittest
from unittest import mock

from tests.negative import host, kernel
from tests.negative.faults import FAULTS, BootFault, HostFault, KernelFault, declared
from tests.qemu import ktap
from tests.qemu.build import ROOT

HOST = HostFault("some_fault", "Some.Test", "lib/some_test.cpp", "its own message")
KERNEL = KernelFault("some_fault", "some_test", "its own message")


class Table(unittest.TestCase):
    def test_names_are_declared(self) -> None:
        self.assertLessEqual({fault.name for fault in FAULTS}, set(declared()))

    def test_host_tests_exist_and_messages_compile(self) -> None:
        for fault in FAULTS:
            with self.subTest(fault=fault.name):
                re.compile(fault.message)
                if isinstance(fault, HostFault):
                    text = (ROOT / "tests/host" / fault.source).read_text()
                    suite, test = fault.test.split(".")
                    self.assertRegex(text, rf"{suite.split('/')[0]},\s*{re.escape(test)}\)")

    def test_boots_exist(self) -> None:
        for fault in FAULTS:
            if isinstance(fault, BootFault):
                self.assertEqual(fault.boot(planted=True).build.fault, fault.name)


class HostVerdict(unittest.TestCase):
    def planted(self, output: str, status: int) -> str:
        ran = mock.patch.object(host, "_run", return_value=(f"[ RUN      ] Some.Test\n{output}", status))
        with mock.patch.object(host, "build_planted"), ran:
            return "\n".join(host.planted_problems(HOST))

    def test_caught(self) -> None:
        self.assertEqual(self.planted("its own message\n[  FAILED  ] Some.Test (0 ms)\n", 1), "")

    def test_missed(self) -> None:
        self.assertIn("passes", self.planted("[       OK ] Some.Test\n", 0))

    def test_another_message(self) -> None:
        self.assertIn("not with", self.planted("[  FAILED  ] Some.Test (0 ms)\n", 1))

    def test_a_crash_is_no_failure_of_the_test(self) -> None:
        self.assertIn("ended with status 139", self.planted("its own message", 139))

    def test_no_such_test(self) -> None:
        with mock.patch.object(host, "_run", return_value=("[==========] 0 tests ran", 0)):
            self.assertEqual(host.control_problems(HOST), ["no test is named Some.Test"])


class KernelVerdict(unittest.TestCase):
    def problems(self, *results: str) -> str:
        return "\n".join(kernel.test_problems(KERNEL, ktap.parse(["KTAP version 1", f"1..{len(results)}", *results])))

    def test_caught(self) -> None:
        self.assertEqual(self.problems("not ok 1 some_test # its own message: 3"), "")

    def test_not_caught(self) -> None:
        self.assertIn("does not fail", self.problems("ok 1 some_test"))
        self.assertIn("does not fail", self.problems("ok 1 some_test # SKIP one CPU"))
        self.assertIn("but with: lost 3", self.problems("not ok 1 some_test # lost 3"))
        self.assertIn("other tests ran", self.problems("not ok 1 some_test # its own message", "ok 2 some_other"))
        self.assertIn("no selftest is named", self.problems())


if __name__ == "__main__":
    unittest.main()
