"""Unit tests of what `make` refuses up front: each with the variable and what may be chosen."""

import os
import subprocess
import unittest

from tests.qemu.build import ROOT

REFUSED = {
    ("CPU=",): "CPU=: choose a model that `qemu-system-aarch64 -cpu help` lists",
    ("CPU=cortex-x",): "CPU=cortex-x: choose a model",
    ("SMP=0",): "SMP=0: choose a number of CPUs from 1 to 512",
    ("SMP=",): "SMP=: choose a number",
    ("SMP=abc",): "SMP=abc: choose a number",
    ("SMP=-1",): "SMP=-1: choose a number",
    ("SMP=08",): "SMP=08: choose a number",
    ("SMP=4 5",): "SMP=4 5: choose a number",
    ("SMP=513",): "SMP=513: choose a number",
    ("SMP=99999999999999999999",): "choose a number of CPUs from 1 to 512",
    ("SMP=9", "GIC=2"): "SMP=9: choose a number of CPUs from 1 to 8 with GIC=2",
    ("GIC=4",): "GIC=4: choose one of 2 3",
    ("MEM=",): "MEM=: choose a size of RAM",
    ("MEM=x",): "MEM=x: choose a size of RAM as a number, in MiB or followed by K, M or G: 512M, 2G",
    ("MEM=2GG",): "MEM=2GG: choose a size",
    ("MEM=0",): "MEM=0: choose a size",
    ("PAGE=8k",): "PAGE=8k: choose one of 4k 16k 64k",
    ("PAGE=4k 16k",): "PAGE=4k 16k: choose one of 4k 16k 64k",
    ("PAGE=16k", "VA=48"): "choose 4k with 48 or 39, 16k with 47, 64k with 48",
    ("VA=abc",): "choose 4k with 48 or 39",
    ("BOOT=foo",): "BOOT=foo: choose one of direct uboot",
    ("INITRD=no-such-file",): "INITRD=no-such-file: choose a file that exists",
    ("DEBUG=yes",): "DEBUG=yes: choose one of 0 1",
    ("FAULT=nonsense",): "FAULT=nonsense: lib/fault.hpp has no such fault",
}
TAKEN = (("SMP=24,sockets=2,cores=6,threads=2",), ("SMP=512",), ("SMP=8", "GIC=2"), ("MEM=129M",), ("MEM=1048580K",),
         ("MEM=64",), ("CPU=max,lpa2=off",), ("INITRD=README.md",), ("PAGE=4k", "VA=39"))


def make(*variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(["make", "-n", "boot", *variables], cwd=ROOT, env=environment, check=False, timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Variables(unittest.TestCase):
    def test_refused(self) -> None:
        for variables, message in REFUSED.items():
            with self.subTest(variables=variables):
                done = make(*variables)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(message, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_taken(self) -> None:
        for variables in TAKEN:
            with self.subTest(variables=variables):
                self.assertIn("tests.qemu.boot", make(*variables).stdout)

    def test_command_line_is_quoted(self) -> None:
        self.assertIn(r"--append 'it'\''s $(x)'", make("CMDLINE=it's $$(x)").stdout)


if __name__ == "__main__":
    unittest.main()
