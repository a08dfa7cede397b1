"""Unit tests of the runner's choices and of the matrix itself."""

import argparse
import unittest

from tests.qemu import console, matrix, run, uboot
from tests.qemu.qemu import Line


class Choice(unittest.TestCase):
    def test_shards_cover_everything_once(self) -> None:
        every = matrix.boots()
        parts = [run.select(every, [], (index, 7)) for index in range(1, 8)]
        self.assertEqual(sorted(boot.name for part in parts for boot in part), sorted(boot.name for boot in every))

    def test_bad_shards(self) -> None:
        for text in ("0/3", "4/3", "3", "a/b"):
            with self.subTest(text=text), self.assertRaises(argparse.ArgumentTypeError):
                run.shard(text)

    def test_filter(self) -> None:
        chosen = run.select(matrix.boots(), ["16k-*.refusal-*"], (1, 1))
        self.assertTrue(chosen)
        self.assertEqual({boot.check for boot in chosen}, {matrix.Check.MESSAGE})

    def test_builds_are_listed_once(self) -> None:
        lines = list(run.list_builds(matrix.boots()))
        self.assertEqual(len(lines), len(set(lines)))
        self.assertIn("PAGE=16k VA=47 PERCPU=local DEBUG=0 LLVM=0 FAULT=none", lines)


class Matrix(unittest.TestCase):
    def test_what_every_page_size_boots(self) -> None:
        boots = matrix.boots()
        for page in matrix.PAGES:
            of_page = [boot for boot in boots if boot.build.page == page and boot.check is matrix.Check.SELFTESTS]
            local = [boot for boot in of_page if boot.build.percpu == "local"]
            self.assertLessEqual({"1", "2", "17", "124", "160"},
                                 {boot.smp for boot in local if boot.boot == "direct"})
            self.assertLessEqual({"4", "160"}, {boot.smp for boot in local if boot.boot == "uboot"})
            self.assertLessEqual({"4", "160"}, {boot.smp for boot in local if boot.build.llvm})

    def test_16k_never_meets_a_cpu_without_it_but_to_refuse(self) -> None:
        for boot in matrix.boots():
            if boot.build.page == "16k" and boot.machine.cpu in ("cortex-a53", "cortex-a57", "cortex-a72", "a64fx"):
                self.assertIs(boot.check, matrix.Check.MESSAGE, boot.name)


class Console(unittest.TestCase):
    LINES = [Line(0.5, "boot: memory map 120 us"), Line(0.9, "smp: 159/160 CPUs online in 40 ms"),
             Line(1.0, "boot: cpus 41250 us")]

    def test_online(self) -> None:
        self.assertEqual(console.online(self.LINES), (159, 160, 0.9))
        self.assertIsNone(console.online(self.LINES[:1]))

    def test_stages(self) -> None:
        self.assertEqual(console.stages(self.LINES), {"memory map": 0.12, "cpus": 41.25})


class Environment(unittest.TestCase):
    def test_carries_what_it_replaces(self) -> None:
        for fit in (False, True):
            variables = uboot.environment("run=selftest,poweroff", fit=fit)
            self.assertEqual(variables["bootdelay"], "-2")
            self.assertEqual(variables["bootargs"], "run=selftest,poweroff")
            self.assertTrue(variables["bootcmd"].endswith("poweroff"))
            self.assertIn(" - ${fdtcontroladdr}", variables["bootcmd"])

    def test_initrd(self) -> None:
        command = uboot.environment("", fit=True, initrd=True)["bootcmd"]
        self.assertRegex(command, r"load \S+ 0:1 (0x[0-9a-f]+) initrd && bootm 0x48000000 \1:\$\{filesize\} \$")

    def test_what_a_user_types(self) -> None:
        lines = uboot.typed(0x40400000, "run=poweroff", ("setenv a b",), (0x50000000, 0x1234)).strip("\r").split("\r")
        self.assertEqual(lines, ["setenv bootargs 'run=poweroff'", "setenv a b",
                                 "booti 0x40400000 0x50000000:0x1234 ${fdtcontroladdr}"])
        self.assertTrue(uboot.typed(0x40400000, "", ()).endswith("\rbooti 0x40400000 - ${fdtcontroladdr}\r"))


if __name__ == "__main__":
    unittest.main()
