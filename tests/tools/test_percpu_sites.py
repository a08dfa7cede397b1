"""tools/percpu_sites: the probes and a kernel of one function are compiled, linked and measured; what must not pass
is refused."""

import contextlib
import functools
import io
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from tools import percpu_sites

ROOT = Path(__file__).resolve().parents[2]
CROSS = os.environ.get("CROSS_COMPILE", "aarch64-linux-gnu-")
FLAGS = ("-std=c++23", "-O2", "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fno-pic", "-mgeneral-regs-only",
         "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-threadsafe-statics", "-I.",
         "-Iarch-arm64/include", "-Iarch-arm64/hw/inline", "-DATOLL_PAGE_KIB=4", "-DATOLL_VA_BITS=48",
         "-DATOLL_DEBUG=0")
SCRIPT = """SECTIONS {
  .percpu 0x2000000 : { *(.percpu .percpu.*) }
  .text 0x4000000 : { *(.text*) }
  .probes : { *(.probes) }
  .rodata : { *(.rodata*) . = ALIGN(4); __lse_patches_start = .; *(.lse_patches) __lse_patches_end = .;
              *(.lse_replacements) }
  .percpu_sites 0 : { *(.percpu_sites) }
  /DISCARD/ : { *(.note*) }
}
"""
# The rest of the kernel: two sites.
KERNEL = """#include "percpu/percpu.hpp"
ATOLL_PER_CPU atl::percpu::PerCpu<atl::u64> variable;
extern "C" atl::u64 kernel_function() { variable.add(3); return variable.read(); }
"""
SCRATCH = tempfile.TemporaryDirectory()


def tearDownModule():
    SCRATCH.cleanup()


@functools.cache
def linked(variant: str, fault: str = "none") -> Path:
    """The probes of `variant`, as an ELF file in a build directory's place."""
    directory = Path(SCRATCH.name, fault, f"4k-va48-{variant}")
    directory.mkdir(parents=True)
    script, kernel, elf = directory / "script", directory / "kernel.cpp", directory / "probes.elf"
    script.write_text(SCRIPT)
    kernel.write_text(KERNEL)
    units = {directory / "probes.o": "percpu/probes.cpp", directory / "kernel.o": kernel}
    for unit, source in units.items():
        subprocess.run([f"{CROSS}g++", *FLAGS, f"-DATOLL_PERCPU={variant}", f"-DATOLL_FAULT={fault}", "-c", "-o", unit,
                        source], check=True, cwd=ROOT)
    link(script, elf, *units)
    return elf


def link(script: Path, elf: Path, *units: Path) -> None:
    subprocess.run([f"{CROSS}ld", "-T", script, "--unresolved-symbols=ignore-all", "--no-warn-rwx-segments", "-o", elf,
                    *units], check=True)


def run(*arguments) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = percpu_sites.main([str(a) for a in arguments])
    return status, out.getvalue(), err.getvalue()


def damaged(variant: str, change) -> Path:
    """A copy of the probes in which `change(record fields)` replaced every site record."""
    data = bytearray(linked(variant).read_bytes())
    header = percpu_sites.Elf(linked(variant)).sections[".percpu_sites"]
    for at in range(header[4], header[4] + header[5], percpu_sites.RECORD.size):
        record = percpu_sites.RECORD.unpack_from(data, at)
        percpu_sites.RECORD.pack_into(data, at, *change(list(record)))
    path = Path(SCRATCH.name, "damaged.elf")
    path.write_bytes(data)
    return path


class Counts(unittest.TestCase):
    def test_local_keeps_its_promise(self):
        status, _, errors = run(linked("local"), "--require", "local")
        self.assertEqual((status, errors), (0, ""))

    def test_preempt_does_not(self):
        status, _, errors = run(linked("preempt"), "--require", "local")
        self.assertEqual(status, 1)
        self.assertRegex(errors, r"probe_add_64_pointer: \d+ \(LSE \d+\) instructions, required 4 \(1\)")

    def test_agrees_with_the_disassembler(self):
        report = percpu_sites.examine(linked("local"))
        listing = subprocess.run([f"{CROSS}objdump", "-d", linked("local")], check=True, capture_output=True,
                                 text=True).stdout
        for (operation, bits, form), count in report.probes.items():
            function = re.search(rf"<probe_{operation}_{bits}_{form}>:\n(.*?)\tret", listing, re.DOTALL)
            self.assertEqual(count.llsc, function[1].count(":\t") - 1, f"{operation} {bits} {form}")

    def test_counts_nops_left_by_patching(self):
        for count in percpu_sites.examine(linked("preempt")).probes.values():
            self.assertEqual(count.llsc, count.lse + count.nops)

    def test_probes_are_not_the_kernels_own(self):
        report = percpu_sites.examine(linked("local"))
        self.assertEqual([(site.operation, site.function) for site in report.sites],
                         [("add", "kernel_function"), ("read", "kernel_function")])
        self.assertEqual(report.probe_sites, len(report.probes))
        start, end = next(f[:2] for f in report.elf.functions if f[2] == "kernel_function")
        self.assertEqual(report.text_bytes, end - start)
        figures = percpu_sites.figures(report, {})
        self.assertEqual({f["op"]: f["value"] for f in figures if f["metric"] == "op_sites"},
                         {"all": 2, "add": 1, "read": 1})

    def test_publishes_the_figures(self):
        figures = percpu_sites.figures(percpu_sites.examine(linked("local")), percpu_sites.build_keys("4k-va48-local"))
        found = [f["value"] for f in figures if f["metric"] == "op_instructions" and f["op"] == "cmpxchg"
                 and f["form"] == "pointer" and (f["page"], f["va"], f["percpu"]) == ("4k", 48, "local")]
        self.assertEqual(sorted(found), [1, 5])


class Errors(unittest.TestCase):
    def refused(self, path, message):
        status, _, errors = run(path)
        self.assertEqual(status, 1)
        self.assertRegex(errors, message)

    def test_an_accessor_of_the_wrong_width(self):
        self.refused(linked("local", "accessor_width"), "of 2 bytes in probe_.* accesses 4")

    def test_probes_among_the_kernels_code(self):
        directory = linked("local").parent
        script, elf = directory / "merged", directory / "merged.elf"
        script.write_text(SCRIPT.replace("*(.text*)", "*(.text*) *(.probes)"))
        link(script, elf, directory / "probes.o", directory / "kernel.o")
        self.refused(elf, r"probe_\w+ is not in \.probes")

    def test_an_unknown_operation(self):
        self.refused(damaged("local", lambda r: r[:3] + [99] + r[4:]), "unknown record")

    def test_an_unknown_kind(self):
        self.refused(damaged("local", lambda r: r[:2] + [7] + r[3:]), "unknown record")

    def test_a_beginning_without_an_end(self):
        self.refused(damaged("preempt", lambda r: r[:3] + [2] + r[4:] if r[2] == percpu_sites.END else r),
                     "does not end")

    def test_an_end_without_a_beginning(self):
        spared = [None]

        def drop_first(record):
            # The first begin mark becomes a copy of a mark of an end that is nobody's.
            if record[2] == percpu_sites.BEGIN and spared[0] is None:
                spared[0] = record
                return record[:2] + [percpu_sites.END] + record[3:]
            return record
        self.refused(damaged("preempt", drop_first), "does not begin")

    def test_something_that_is_no_kernel(self):
        path = Path(SCRATCH.name, "text")
        path.write_text("hello")
        self.refused(path, "not a little-endian ELF64 file")


if __name__ == "__main__":
    unittest.main()
