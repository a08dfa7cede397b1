#!/usr/bin/env python3
"""Checks barriers and system instructions in a linked kernel: what no emulator can show to be wrong.

On every path through the function
  * a broadcast TLBI comes after `dsb ishst` (Arm ARM D8.14) and before `dsb ish; isb`; a local one before
    `dsb nsh; isb`, and only where docs/decisions/0009-no-local-tlbi.md allows it,
  * registers that decide how addresses are translated and what traps are written before an ISB, TTBR1_EL1 only
    where a root is installed, and `switch_root` is the one sequence that lets no two roots live one after the other,
  * `at` comes before an ISB and then the read of PAR_EL1, and the counter is read after an ISB,
  * an SGI is sent after `dsb ishst`: the CPU that it interrupts sees what was stored before; and the DSB after
    the acknowledgement keeps that CPU from having looked earlier,
  * `dc cvau` comes before `dsb ish`, and `ic ivau` between `dsb ish` and `dsb ish; isb`; what is cleaned or
    invalidated for a CPU without its MMU, before `dsb sy`,
  * WFI comes after a DSB, and an ISB after IRQs are unmasked,
  * FIQs, which may be NMIs, are masked in few places, and around a root switch,
  * where a CPU enters, it masks everything and takes the stack pointer of its level, before all else; and HCR_EL2 is
    written before an ISB and then SCTLR_EL1, which with E2H set would be another register,
  * the descriptors that KernelRoots stores come between `dsb ishst` and `dsb ishst; isb`.
No function of the kernel's own uses a SIMD or floating-point register; a library's may, where the kernel lets it.

Stronger barriers do as well. An image in which one of these instructions is missing altogether is refused: it was
not understood.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tools.check_early import uses_simd
from tools.disassembly import CALL, LOAD, STORE, Function, parse

DSB_STORES = r"dsb (ishst|ish|st|sy)$"
DSB_LOCAL = r"dsb (nsh|ish|sy)$"
DSB_SHARED = r"dsb (ish|sy)$"
DSB_ANY = r"dsb "
ISB = r"isb$"
# An exception return is as good (Arm ARM, "context synchronization event").
ISB_OR_ERET = r"(isb|eret)$"

# What may not stand between an instruction and its barrier: what the barrier should have ordered.
MMU_ON = r"msr sctlr_el1,"
CHANGES = re.compile(f"{STORE.pattern}|{CALL.pattern}|{MMU_ON}|dc cvau")
ACCESSES = re.compile(f"{STORE.pattern}|{CALL.pattern}|{MMU_ON}|{LOAD.pattern}|tlbi")


@dataclass(frozen=True)
class Rule:
    """Instructions that need barriers: one before them, or some after them, in this order."""

    instruction: str
    before: str | None = None
    after: tuple[str, ...] = ()
    between: re.Pattern = CHANGES


LOCAL_TLBI = r"tlbi (?!\w+[io]s\b)"
RULES = (
    Rule(r"tlbi \w+[io]s\b", before=DSB_STORES, after=(DSB_SHARED, ISB)),
    Rule(LOCAL_TLBI, after=(DSB_LOCAL, ISB)),
    Rule(r"msr ttbr[01]_el1,", after=(ISB,), between=ACCESSES),
    Rule(r"msr (sctlr|tcr|mair|cpacr|vbar)_el1,", after=(ISB_OR_ERET,), between=ACCESSES),
    Rule(r"msr hcr_el2,", after=(ISB,), between=ACCESSES),
    Rule(r"at s1e", after=(ISB, r"mrs x\d+, par_el1"), between=ACCESSES),
    Rule(r"mrs x\d+, cntvct_el0", before=ISB, between=ACCESSES),
    Rule(r"msr (icc_sgi1r_el1|icc_sgi0r_el1|s3_0_c12_c11_[57]),", before=DSB_STORES),
    Rule(r"mrs x\d+, (icc_iar1_el1|icc_iar0_el1|s3_0_c12_(c12|c8)_0)", after=(r"dsb sy$",), between=ACCESSES),
    Rule(r"dc cvau,", after=(DSB_SHARED,), between=re.compile(f"{STORE.pattern}|{CALL.pattern}|ic ivau")),
    Rule(r"ic ivau,", before=DSB_SHARED, after=(DSB_SHARED, ISB)),
    Rule(r"ic iallu$", after=(DSB_LOCAL, ISB), between=ACCESSES),
    Rule(r"dc (ivac|civac),", after=(r"dsb sy$",), between=ACCESSES),
    Rule(r"wfi$", before=DSB_ANY),
    Rule(r"msr daifclr, #0x2$", after=(ISB,)),
)

# Instructions with few places, by the names of the functions, mangled or not.
CONFINED = (
    (LOCAL_TLBI, re.compile(r"switch_root|enable_mmu|\w*tlb_flush_all_local|\w*drop_identity_map")),
    (r"msr ttbr1_el1,", re.compile(r"switch_root|enable_mmu")),
    # F is the lowest bit. Where a CPU begins, ends, returns from an exception, has no root, or uses PAR_EL1.
    (r"msr daifset, #0x[13579bdf]$", re.compile(r"(primary|secondary)_entry|park|\w*4haltEv|trap_return|switch_root|"
                                                r"\w*9translate\w*")),
)

SWITCH_ROOT = ["msr daifset, #0xf", "msr ttbr1_el1, x0", "isb", "tlbi vmalle1", "dsb nsh", "isb", "msr ttbr1_el1, x1",
               "isb", "msr daif, x2"]
ENTRIES = ("primary_entry", "secondary_entry")
ENTRY = ["msr daifset, #0xf", "msr spsel, #0x1"]
INSTALL = re.compile(r"\w*11KernelRoots\w*?(7install|13install_local)E")


def readable(barrier: str) -> str:
    """The first form that a pattern stands for, as messages name it."""
    return barrier.replace(r"\d+", "N").replace("(?!", "|").replace("(", "").partition("|")[0].rstrip("$, ")


def obstacle(function: Function, start: int, forward: bool, barrier: str, between: re.Pattern | None) -> str | None:
    return function.obstacle(start, forward, lambda i: re.match(barrier, function.code[i].text) is not None, between)


def rule_findings(function: Function, rule: Rule) -> Iterator[tuple[int, str]]:
    for start in function.find(rule.instruction):
        if rule.before and (found := obstacle(function, start, False, rule.before, rule.between)):
            yield start, f"no {readable(rule.before)} before it: {found}"
        positions = [start]
        for barrier in rule.after:
            found = next(filter(None, (obstacle(function, i, True, barrier, rule.between) for i in positions)), None)
            if found:
                yield start, f"no {readable(barrier)} after it: {found}"
                break
            # Whichever of these barriers a path met, the next one has to come after it.
            positions = reached(function, positions, barrier)


def reached(function: Function, starts: list[int], barrier: str) -> list[int]:
    """The barriers that the paths from `starts` meet first."""
    found = set()

    def wanted(i: int) -> bool:
        if not re.match(barrier, function.code[i].text):
            return False
        found.add(i)
        return True

    for start in starts:
        function.obstacle(start, True, wanted, None)
    return sorted(found)


def is_install(function: Function) -> bool:
    # The compiler may have inlined it elsewhere, or split off a part that only panics.
    return INSTALL.match(function.name) is not None and next(function.find("dsb"), None) is not None


def install_findings(function: Function) -> Iterator[tuple[int, str]]:
    """docs/memory-layout.md: the table's contents, then the descriptors, then everybody sees them."""
    def publishes_descriptor(i: int) -> bool:
        return function.code[i].text in ("dsb ishst", "dsb ish") and i + 1 < len(function.code) \
            and function.code[i + 1].text == "isb"

    def publishes_table(i: int) -> bool:
        return re.match(DSB_STORES, function.code[i].text) is not None and not publishes_descriptor(i)

    ends = [i for i in range(len(function.code)) if publishes_descriptor(i)]
    for end in ends:
        if function.obstacle(end, False, publishes_table, None):
            yield end, "no dsb ishst before the descriptors that this publishes"
    for start in filter(publishes_table, range(len(function.code))):
        if function.obstacle(start, True, publishes_descriptor, re.compile("ret$")):
            yield start, "no `dsb ishst; isb` after the descriptors that follow this"


def findings(functions: list[Function], library: set[str]) -> Iterator[str]:
    """One message for each violation; `library` names the functions that may use SIMD registers."""
    missing = {rule.instruction for rule in RULES}
    names = set()
    for function in functions:
        names.add(function.name)
        found = []
        for rule in RULES:
            found += rule_findings(function, rule)
            if next(function.find(rule.instruction), None) is not None:
                missing.discard(rule.instruction)
        for instruction, owners in CONFINED:
            if not owners.match(function.name):
                found += [(i, "not allowed here") for i in function.find(instruction)]
        if is_install(function):
            found += install_findings(function)
        if function.name not in library:
            found += [(i, "SIMD or floating-point register") for i, instruction in enumerate(function.code)
                      if uses_simd(instruction.text)]
        if function.name == "switch_root":
            texts = [instruction.text for instruction in function.code]
            if not any(texts[i:i + len(SWITCH_ROOT)] == SWITCH_ROOT for i in range(len(texts))):
                found.append((0, f"is not `{'; '.join(SWITCH_ROOT)}`"))
        if function.name in ENTRIES and [instruction.text for instruction in function.code[:2]] != ENTRY:
            found.append((0, f"does not begin with `{'; '.join(ENTRY)}`"))
        for i, message in found:
            at = function.code[i]
            yield f"{function.name}+{at.address - function.start:#x}: {at.text}: {message}"
    for instruction in sorted(missing):
        yield f"no instruction `{readable(instruction)}` in the image"
    for name in ("switch_root", *ENTRIES):
        if name not in names:
            yield f"no function {name}"
    if not any(map(is_install, functions)):
        yield "no function KernelRoots::install"


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cross", default="aarch64-linux-gnu-", help="prefix of objdump and nm")
    parser.add_argument("--library", action="append", default=[], help="archive whose functions may use SIMD registers")
    parser.add_argument("image")
    arguments = parser.parse_args()
    library = {line.split()[-1] for archive in arguments.library
               for line in run(f"{arguments.cross}nm", "--defined-only", archive).splitlines() if " " in line}
    listing = run(f"{arguments.cross}objdump", "-d", "--no-show-raw-insn", arguments.image)
    messages = list(findings(parse(listing), library))
    for message in messages:
        print(f"{arguments.image}: {message}", file=sys.stderr)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
