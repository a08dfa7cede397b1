"""tools/check_early: assembled objects with what may not run before the MMU is on, and with what may."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tools.check_early import findings, uses_simd

CROSS = os.environ.get("CROSS_COMPILE", "aarch64-linux-gnu-")


class Case17CheckEarly(unittest.TestCase):
    def findings(self, source):
        with tempfile.TemporaryDirectory() as scratch:
            unit = Path(scratch, "early.o")
            subprocess.run([f"{CROSS}as", "-o", unit, "-"], input=source + "\n", check=True, text=True)
            return list(findings(f"{CROSS}objdump", str(unit)))

    def refuses(self, source, message):
        found = self.findings(source)
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_plain_code(self):
        self.assertEqual(self.findings("adrp x0, there\nadd x0, x0, :lo12:there\nldp x1, x2, [x0]\nbl there\nret"), [])

    def test_simd_register(self):
        self.refuses("ldr q0, [x0]", "SIMD register before the MMU is on: ldr\tq0, [x0]")

    def test_scalar_floating_point(self):
        self.refuses("fmov s1, w0", "SIMD register")

    def test_branch_to_an_address_like_a_register(self):
        self.assertFalse(uses_simd("b.ne\td8 "))
        self.assertFalse(uses_simd("cbz\tx0, b4 "))
        self.assertTrue(uses_simd("str\td8, [sp]"))

    def test_reference_to_percpu(self):
        self.refuses('adrp x0, variable\n.section .percpu, "aw"\nvariable: .quad 0', "reference to per-CPU data")

    def test_record_of_a_percpu_site_is_not_loaded(self):
        self.assertEqual(self.findings('.section .percpu, "aw"\n.quad 0\n.section .percpu_sites\n.quad .percpu'), [])

    def test_absolute_address_in_data(self):
        self.refuses('.section .data.rel.ro, "aw"\n.quad function', ".data.rel.ro: absolute address of function")

    def test_virtual_entry_point_of_the_head(self):
        self.assertEqual(self.findings('.section .head.text, "ax"\nldr x8, =primary_virtual\nbr x8'), [])

    def test_message_text(self):
        self.assertEqual(self.findings('.section .data.rel.ro, "aw"\n.quad .LC0\n'
                                       '.section .rodata.str1.8, "aMS", %progbits, 1\n.LC0: .asciz "text"'), [])


if __name__ == "__main__":
    unittest.main()
