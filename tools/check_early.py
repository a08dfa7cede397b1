#!/usr/bin/env python3
"""Checks the objects that run before the MMU is on.

They run at physical addresses, with the data cache off and unaligned accesses faulting, so they may not
  * use SIMD or floating-point registers (compilers copy with them, unaligned),
  * access memory at an offset that is no multiple of the access's size (compilers do where they know of no alignment,
    or for copies that overlap; what is misaligned by its base alone the flag -mstrict-align has to prevent),
  * refer to `.percpu`, whose addresses exist only under a root of their own,
  * hold absolute addresses in loaded data (vtables, pointer tables): those are virtual,
  * call or merge with code that was compiled for later, but for what ALLOWED names.
Two kinds of absolute address are meant: the literals in `.head.text`, from which head.S loads the virtual
entry points, and pointers to message text, which only a panic would follow.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator

SIMD = re.compile(r"\b[qdsvhb]([12]?[0-9]|3[01])(\.\d+[bhsd])?\b")
# Their operands are addresses, which may look like a register's name: `b d8`.
BRANCH = re.compile(r"(b|bl|b\.\w+|cbn?z|tbn?z|adrp?)\s")
ACCESS = re.compile(r"(?:ld|st)u?r(s?[bhw])?\s+([wx])(?:\d+|zr), \[\w+, #(-?(?:0x)?[0-9a-f]+)\]?")

# What the early objects may refer to outside of them, as patterns, each with the reason why that is no call of code
# for later. Functions that each object brings its own copy of count too: the linker keeps one, from any object.
ALLOWED = (
    (r"__(image|text|rodata|data|bss|percpu_template|boot_unit|boot_stack|early_tables)_?\w*",
     "the linker script's bounds: addresses, not code"),
    (r"kernel_main|secondary_main", "head.S calls them after the MMU is on"),
    (r"_ZN\w*?(5panic|10panic_with)[IE]\w*",
     "an invariant of the table walker is broken; without vectors and console the CPU ends there, as it should"),
    (r"strlen", "clang's way to pass a text to panic; compiled by the same rules, and calls nothing"),
)


def uses_simd(instruction: str) -> bool:
    """`instruction` is disassembled, without comment and symbol."""
    return SIMD.search(instruction) is not None and BRANCH.match(instruction) is None


def is_misaligned(instruction: str) -> bool:
    """Whether it reads or writes at an offset that is no multiple of its size."""
    access = ACCESS.match(instruction)
    if not access:
        return False
    width, register, offset = access.groups()
    size = {"b": 1, "h": 2, "w": 4}[width[-1]] if width else {"w": 4, "x": 8}[register]
    return int(offset, 0) % size != 0


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def findings(objdump: str, path: str):
    """Yields one message for each forbidden thing in the object."""
    for line in run(objdump, "-d", "--no-show-raw-insn", path).splitlines():
        instruction = line.partition(":\t")[2].partition("//")[0].partition("<")[0]
        if uses_simd(instruction):
            yield f"SIMD register before the MMU is on: {instruction.strip()}"
        if is_misaligned(instruction):
            yield f"unaligned access before the MMU is on: {instruction.strip()}"
    section = ""
    for line in run(objdump, "-r", path).splitlines():
        if line.startswith("RELOCATION RECORDS FOR"):
            section = line.split("[")[1].rstrip("]:")
        elif "R_AARCH64_" in line:
            target = line.split()[-1]
            if section.startswith((".debug", ".eh_frame")) or section == ".percpu_sites":
                continue
            if target.startswith(".percpu"):
                yield f"{section}: reference to per-CPU data: {target}"
            is_text = target.startswith((".LC", ".L.str", ".rodata.str", ".L__"))
            if "R_AARCH64_ABS64" in line and section != ".head.text" and not is_text:
                yield f"{section}: absolute address of {target}"


def foreign(nm: str, paths: list[str]) -> Iterator[str]:
    """Yields one message for each symbol that `paths` together do not hold, and that is not allowed."""
    defined, wanted = set(), set()
    for line in run(nm, *paths).splitlines():
        if not (symbol := re.fullmatch(r"(?:[0-9a-f]+)?\s+([A-Za-z]) (\S+)", line)):
            continue
        kind, name = symbol.groups()
        # `w` is undefined, too; `W` is a copy of which there may be others.
        (wanted if kind in "UwW" else defined).add(name)
    for name in sorted(wanted - defined):
        if not any(re.fullmatch(pattern, name) for pattern, _ in ALLOWED):
            yield f"{name} is not among what may be used before the MMU is on"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objdump", default="aarch64-linux-gnu-objdump")
    parser.add_argument("--nm", default="aarch64-linux-gnu-nm")
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.objects:
        for message in findings(arguments.objdump, path):
            print(f"{path}: {message}", file=sys.stderr)
            failed = True
    for message in foreign(arguments.nm, arguments.objects):
        print(message, file=sys.stderr)
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
