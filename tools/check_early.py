#!/usr/bin/env python3
"""Checks the objects that run before the MMU is on.

They run at physical addresses, with the data cache off and unaligned accesses faulting, so they may not
  * use SIMD or floating-point registers (compilers copy with them, unaligned),
  * refer to `.percpu`, whose addresses exist only under a root of their own,
  * hold absolute addresses in loaded data (vtables, pointer tables): those are virtual.
Two kinds of absolute address are meant: the literals in `.head.text`, from which head.S loads the virtual
entry points, and pointers to message text, which only a panic would follow.
"""

import argparse
import re
import subprocess
import sys

SIMD = re.compile(r"\b[qdsvhb]([12]?[0-9]|3[01])(\.\d+[bhsd])?\b")
# Their operands are addresses, which may look like a register's name: `b d8`.
BRANCH = re.compile(r"(b|bl|b\.\w+|cbn?z|tbn?z|adrp?)\s")


def uses_simd(instruction: str) -> bool:
    """`instruction` is disassembled, without comment and symbol."""
    return SIMD.search(instruction) is not None and BRANCH.match(instruction) is None


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def findings(objdump: str, path: str):
    """Yields one message for each forbidden thing in the object."""
    for line in run(objdump, "-d", "--no-show-raw-insn", path).splitlines():
        instruction = line.partition(":\t")[2].partition("//")[0].partition("<")[0]
        if uses_simd(instruction):
            yield f"SIMD register before the MMU is on: {instruction.strip()}"
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objdump", default="aarch64-linux-gnu-objdump")
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.objects:
        for message in findings(arguments.objdump, path):
            print(f"{path}: {message}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
