"""tools/check_early: assembled objects with what may not run before the MMU is on, and with what may."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tools.check_early import findings, foreign, is_misaligned, uses_simd

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

    def test_case17_simd_register(self):
        self.refuses("ldr q0, [x0]", "SIMD register before the MMU is on: ldr\tq0, [x0]")

    def test_scalar_floating_point(self):
        self.refuses("fmov s1, w0", "SIMD register")

    def test_branch_to_an_address_like_a_register(self):
        self.assertFalse(uses_simd("b.ne\td8 "))
        self.assertFalse(uses_simd("cbz\tx0, b4 "))
        self.assertTrue(uses_simd("str\td8, [sp]"))

    def test_case17_unaligned_access(self):
        self.refuses("ldur x0, [x1, #3]", "unaligned access before the MMU is on: ldur\tx0, [x1, #3]")

    def test_offsets_and_sizes(self):
        for code in ("stur\tw0, [sp, #-6]", "ldurh\tw0, [x1, #5]", "ldursw\tx0, [x1, #6]", "str\tx0, [x1, #12]!"):
            self.assertTrue(is_misaligned(code), code)
        for code in ("ldr\tx0, [x1, #4088]", "strb\twzr, [x1, #3]", "ldurh\tw0, [x1, #-2]", "ldursw\tx0, [x1, #12]",
                     "ldr\tx0, [x1, x2]", "ldr\tx0, [x1]", "ldr\tx0, [x1], #8", "ldr\tw0, 14"):
            self.assertFalse(is_misaligned(code), code)

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


class Case17Flags(unittest.TestCase):
    """What the build compiles early objects with, on code that tempts the compiler."""

    PACKED = "struct [[gnu::packed]] S { char c; unsigned long n; }; unsigned long f(const S* s) { return s->n; }"
    COPY = "struct S { long n[8]; }; void f(S* to, const S* from) { *to = *from; }"

    def compile(self, source, llvm, flags):
        # LLVM=1 means the build's other compiler.
        variables = "$(CXX_KERNEL) $(KERNEL_CXXFLAGS) " + flags
        command = subprocess.run(["make", f"LLVM={llvm}", "--eval", f"flags:;@echo '{variables}'", "flags"], check=True,
                                 capture_output=True, text=True).stdout.split()
        with tempfile.TemporaryDirectory() as scratch:
            unit = Path(scratch, "early.o")
            subprocess.run([*command, "-x", "c++", "-c", "-o", unit, "-"], input=source, check=True, text=True)
            code = subprocess.run([f"{CROSS}objdump", "-d", unit], check=True, capture_output=True, text=True).stdout
            return list(findings(f"{CROSS}objdump", str(unit))), code

    def test_case17_no_unaligned_access(self):
        for llvm in (0, 1):
            with self.subTest(llvm=llvm):
                found, code = self.compile(self.PACKED, llvm, "$(EARLY_CXXFLAGS)")
                self.assertEqual(found, [])
                self.assertRegex(code, r"ldrb\t")
                self.assertNotRegex(code, r"ldu?r\tx")

    def test_case17_without_the_flag_the_access_is_refused(self):
        for llvm in (0, 1):
            with self.subTest(llvm=llvm):
                found, _ = self.compile(self.PACKED, llvm, "")
                self.assertIn("unaligned access before the MMU is on", "".join(found))

    def test_case17_no_simd_register(self):
        for llvm in (0, 1):
            with self.subTest(llvm=llvm):
                self.assertEqual(self.compile(self.COPY, llvm, "$(EARLY_CXXFLAGS)")[0], [])


class Foreign(unittest.TestCase):
    def foreign(self, *sources):
        with tempfile.TemporaryDirectory() as scratch:
            units = []
            for i, source in enumerate(sources):
                units.append(str(Path(scratch, f"{i}.o")))
                subprocess.run([f"{CROSS}as", "-o", units[-1], "-"], input=source + "\n", check=True, text=True)
            return list(foreign(f"{CROSS}nm", units))

    def test_call_of_code_for_later(self):
        self.assertEqual(self.foreign("bl memcpy"), ["memcpy is not among what may be used before the MMU is on"])

    def test_call_between_early_objects(self):
        self.assertEqual(self.foreign("bl there", ".globl there\nthere: ret"), [])

    def test_copy_that_may_be_another_objects(self):
        self.assertEqual(len(self.foreign(".weak helper\nhelper: ret")), 1)

    def test_bounds_entry_points_and_panic(self):
        self.assertEqual(self.foreign("adrp x0, __bss_start\nadrp x0, __boot_stack_top\nbl kernel_main\n"
                                      "bl _ZN3atl10panic_withESt15source_location\n.weak _ZN3atl5panicIJmmEEEv\n"
                                      "_ZN3atl5panicIJmmEEEv: ret"), [])

    def test_name_that_only_begins_like_an_allowed_one(self):
        self.assertEqual(len(self.foreign("bl kernel_main_later")), 1)


if __name__ == "__main__":
    unittest.main()
