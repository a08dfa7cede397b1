"""Assembly and system registers only in arch-arm64/hw: everything else compiles on any host."""

import re

from tests.lint.tree import Finding

NAME = "assembly"

HARDWARE = "arch-arm64/hw/"
# Programs of their own, not parts of the kernel.
PROGRAMS = ("tests/qemu/",)

_ASM = re.compile(r"\b(asm|__asm|__asm__)\b")
_REGISTER = re.compile(r"\b([A-Za-z]\w*_[Ee][Ll][0-3])\b")
_BUILTIN = re.compile(r"\b(__builtin_a(?:rm|arch64)_\w+|__arm_[rw]sr\w*)\b")


def check(tree):
    for name in tree.files:
        if name.startswith((HARDWARE, *PROGRAMS)):
            continue
        if name.endswith((".S", ".s", ".asm")):
            yield Finding(name, 0, NAME, f"assembly files belong in {HARDWARE}")
        if not name.endswith((".hpp", ".cpp", ".h")):
            continue
        for number, line in tree.code_lines(name):
            for pattern, what in ((_ASM, "inline assembly"), (_REGISTER, "a system register"),
                                  (_BUILTIN, "a machine builtin")):
                if match := pattern.search(line):
                    yield Finding(name, number, NAME, f"{what} ({match[1]}) outside {HARDWARE}")
