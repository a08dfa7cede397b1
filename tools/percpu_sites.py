"""Reports every per-CPU operation of a kernel, from its machine code.

Each operation left a record in the ELF file's `.percpu_sites` (arch-impl/percpu_atomic.hpp): where a sequence
starts and ends, or the two ends of an operation of several parts. From these, the patch table and the
instructions themselves come: how long each site is, how long after LSE patching (and how many NOPs that leaves),
what the probe functions take (percpu/probes.cpp), and the size of `.text`. The probes have a section of their
own, `.probes`: neither their size nor their sites are the kernel's.

A site's length is that of its straight path: the loop once, no reschedule. Between the ends of an operation of
several parts the compiler may have placed the making of its address and operands, so the two variants' sites are
not measured alike: compare the probes, which count the whole function without `ret`.

A record that cannot be read, an end without its beginning, or a sequence whose first instruction has another
width than it claims, is an error.

    python3 -m tools.percpu_sites build/4k-va48-local/atoll-lean.elf [--require local]
    python3 -m tools.percpu_sites --builds --metrics     the compared builds; figures into build/report/metrics.json
"""

from __future__ import annotations

import argparse
import heapq
import json
import re
import statistics
import struct
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from tools import metrics
from tools.elf_file import INSTRUCTION_BYTES, Elf, ElfError, is_return, successors

ROOT = Path(__file__).resolve().parents[1]

# In the order of arch::PerCpuOperation; the names are those of METRICS.
OPERATIONS = ("read", "write", "add", "add_return", "and", "or", "xchg", "cmpxchg")
PLAIN = ("read", "write")
VARIANTS = ("local", "preempt")
WIDTHS = (1, 2, 4, 8, 16)
SEQUENCE, BEGIN, END = 1, 2, 3
RECORD = struct.Struct("<QQBBBB")
PATCH = struct.Struct("<iiHH")
# No operation is longer; a walk that gets here has left its function.
LONGEST_PATH = 400

# What each variant promises for a 64-bit operation on a pointer: instructions with LL/SC and after patching.
REQUIRED = {"local": {"read": (1, 1), "write": (1, 1), "add": (4, 1), "xchg": (3, 1), "cmpxchg": (5, 1)}}

BUILDS = tuple(f"{page}-va{va}-{percpu}" for page, va in (("4k", 48), ("16k", 47), ("64k", 48)) for percpu in VARIANTS)


class SiteError(Exception):
    """The file's records contradict each other or the code."""


@dataclass(frozen=True)
class Sequence:
    start: int
    end: int
    operation: str
    width: int
    variant: str
    patched: Optional[int] = None  # instructions after patching, NOPs aside; None: never patched

    @property
    def length(self) -> int:
        return (self.end - self.start) // INSTRUCTION_BYTES


@dataclass(frozen=True)
class Count:
    """Instructions with LL/SC, after patching, and the NOPs that patching leaves."""

    llsc: int
    lse: int
    nops: int


@dataclass(frozen=True)
class Site:
    function: str
    address: int
    operation: str
    width: int
    variant: str
    count: Count


@dataclass
class Report:
    """`text_bytes` and `sites` are the kernel's own, without those of the probes."""

    text_bytes: int
    sites: list[Site]
    probe_sites: int
    probes: dict[tuple[str, int, str], Count]  # by operation, bits, form
    variant: str
    elf: Elf = field(repr=False)


def read_patches(elf: Elf) -> dict[int, tuple[int, int]]:
    """{start of a loop: (its end, instructions that replace it)}."""
    bounds = [elf.symbols.get(f"__lse_patches_{end}") for end in ("start", "end")]
    if None in bounds:
        raise SiteError("no __lse_patches_start and _end")
    start, end = bounds
    if (end - start) % PATCH.size:
        raise SiteError("the patch table does not end with a whole entry")
    patches = {}
    for at in range(start, end, PATCH.size):
        original, replacement, original_bytes, replacement_bytes = PATCH.unpack(elf.bytes_at(at, PATCH.size))
        loop = at + original
        if loop in patches or not 0 < replacement_bytes <= original_bytes or replacement_bytes % INSTRUCTION_BYTES:
            raise SiteError(f"bad patch of {loop:#x}")
        if width_of(elf.instruction(loop)) != width_of(elf.instruction(at + 4 + replacement)):
            raise SiteError(f"the patch of {loop:#x} in {elf.function_at(loop)} has another width than the loop")
        patches[loop] = (loop + original_bytes, replacement_bytes // INSTRUCTION_BYTES)
    return patches


def width_of(word: int) -> int:
    """Bytes that the first instruction of a sequence accesses: by its size field, or an LDXP's or CASP's."""
    if word & 0xbfff8000 == 0x887f0000 or word & 0xbfa07c00 == 0x08207c00:
        return 16 if word >> 30 & 1 else 8
    return 1 << (word >> 30)


def read_records(elf: Elf, patches: dict[int, tuple[int, int]]):
    """Sequences by start, and the begin and end marks by address."""
    raw = elf.section(".percpu_sites")
    if not raw:
        raise SiteError("no .percpu_sites")
    if len(raw) % RECORD.size:
        raise SiteError(".percpu_sites does not end with a whole record")
    sequences: dict[int, Sequence] = {}
    begins: dict[int, tuple] = {}
    ends: dict[int, tuple] = {}
    for start, end, kind, operation, width, variant in RECORD.iter_unpack(raw):
        if operation >= len(OPERATIONS) or width not in WIDTHS or variant >= len(VARIANTS):
            raise SiteError(f"unknown record at {start:#x}: operation {operation}, width {width}, variant {variant}")
        what = (OPERATIONS[operation], width, VARIANTS[variant])
        if kind == SEQUENCE:
            if start >= end or (end - start) % INSTRUCTION_BYTES:
                raise SiteError(f"sequence {start:#x}-{end:#x} is not made of instructions")
            accessed = width_of(elf.instruction(start))
            if accessed != width:
                raise SiteError(f"{what[0]} of {width} bytes in {elf.function_at(start)} accesses {accessed}")
            patch = patches.get(start)
            if (patch is None) != (what[0] in PLAIN) or (patch and patch[0] != end):
                raise SiteError(f"{what[0]} at {start:#x} in {elf.function_at(start)} and the patch table disagree")
            sequences[start] = Sequence(start, end, *what, patch[1] if patch else None)
        elif kind in (BEGIN, END):
            marks = begins if kind == BEGIN else ends
            # Two operations may touch: the same place is then one's end and the other's beginning.
            if start in marks:
                raise SiteError(f"two marks of one kind at {start:#x} in {elf.function_at(start)}")
            marks[start] = what
        else:
            raise SiteError(f"unknown record at {start:#x}: kind {kind}")
    for loop in patches:
        if loop not in sequences:
            raise SiteError(f"patched loop {loop:#x} in {elf.function_at(loop)} has no record")
    return sequences, begins, ends


def walk(elf: Elf, sequences: dict[int, Sequence], start: int, arrived) -> Optional[tuple[int, Count, list[int]]]:
    """The shortest way to the first address for which `arrived` holds, sequences passed straight through.

    Gives that address, what was executed, and the sequences on the way.
    """
    queue = [(0, start, Count(0, 0, 0), ())]
    seen = set()
    while queue:
        length, address, count, passed = heapq.heappop(queue)
        if address in seen:
            continue
        seen.add(address)
        if arrived(address):
            return address, count, list(passed)
        if length > LONGEST_PATH:
            return None
        sequence = sequences.get(address)
        if sequence is not None:
            lse = sequence.length if sequence.patched is None else sequence.patched
            steps = (sequence.length, lse, sequence.length - lse, [sequence.end], (*passed, address))
        else:
            steps = (1, 1, 0, successors(elf.instruction(address), address), passed)
        more, lse, nops, following, passed = steps
        grown = Count(count.llsc + more, count.lse + lse, count.nops + nops)
        for successor in following:
            heapq.heappush(queue, (length + more, successor, grown, passed))
    return None


def find_sites(elf: Elf, sequences, begins, ends) -> Iterator[Site]:
    """Operations marked at both ends, then the sequences that stand alone."""
    inside: set[int] = set()
    paired: set[int] = set()
    families = set()
    for start, what in begins.items():
        found = walk(elf, sequences, start, lambda address: ends.get(address) == what)
        function = elf.function_at(start)
        if found is None:
            raise SiteError(f"{what[0]} in {function} begins at {start:#x} and does not end")
        end, count, passed = found
        if len(passed) != 1 or (sequences[passed[0]].operation, sequences[passed[0]].width) != what[:2]:
            raise SiteError(f"{what[0]} in {function} at {start:#x} does not hold one {what[0]} sequence")
        paired.add(end)
        inside.update(passed)
        families.add((function, what))
        yield Site(function, start, *what, count)
    for end, what in ends.items():
        # The compiler may copy the end of an operation into the path that reschedules.
        if end not in paired and (elf.function_at(end), what) not in families:
            raise SiteError(f"{what[0]} in {elf.function_at(end)} ends at {end:#x} and does not begin")
    for sequence in sequences.values():
        if sequence.start in inside:
            continue
        lse = sequence.length if sequence.patched is None else sequence.patched
        if sequence.variant != "local":
            raise SiteError(f"bare {sequence.operation} sequence in {elf.function_at(sequence.start)}")
        yield Site(elf.function_at(sequence.start), sequence.start, sequence.operation, sequence.width,
                   sequence.variant, Count(sequence.length, lse, sequence.length - lse))


def examine(path: Path) -> Report:
    """Everything there is to say about one ELF file. Raises SiteError or ElfError."""
    elf = Elf(path)
    sequences, begins, ends = read_records(elf, read_patches(elf))
    sites = sorted(find_sites(elf, sequences, begins, ends), key=lambda s: s.address)
    probes = {}
    probe_code = elf.section_range(".probes")
    for name, address in elf.symbols.items():
        match = re.fullmatch(r"probe_(\w+)_(\d+)_(pointer|static)", name)
        if not match:
            continue
        if address not in probe_code:
            raise SiteError(f"{name} is not in .probes")
        found = walk(elf, sequences, address, lambda at: is_return(elf.instruction(at)))
        if found is None:
            raise SiteError(f"{name} does not return")
        probes[match[1], int(match[2]), match[3]] = found[1]
    variants = {site.variant for site in sites}
    if len(variants) != 1:
        raise SiteError(f"sites of several variants: {', '.join(sorted(variants))}")
    own = [site for site in sites if site.address not in probe_code]
    return Report(len(elf.section_range(".text")), own, len(sites) - len(own), probes, variants.pop(), elf)


def by_operation(report: Report) -> dict[str, list[Count]]:
    groups = defaultdict(list)
    for site in report.sites:
        groups[site.operation].append(site.count)
    return {operation: groups[operation] for operation in OPERATIONS if groups[operation]}


QUANTILES = (("min", min), ("median", statistics.median), ("max", max))


def print_table(name: str, report: Report, out) -> None:
    def shown(count: Count, operation: str) -> str:
        return f"{count.llsc:5}" if operation in PLAIN else f"{count.llsc:5}   {count.lse:2}+{count.nops} NOP"
    print(f"{name}: {report.variant}, .text {report.text_bytes} bytes, {len(report.sites)} sites "
          f"(and {report.probe_sites} in probes)", file=out)
    print("  probes (64 bits)         pointer: LL/SC, LSE   static: LL/SC, LSE", file=out)
    for operation in OPERATIONS:
        cells = [shown(report.probes[operation, 64, form], operation)
                 for form in ("pointer", "static") if (operation, 64, form) in report.probes]
        print(f"    {operation:18}" + "".join(f"{cell:>22}" for cell in cells), file=out)
    print("  sites (all widths)       number  LL/SC min/median/max  LSE min/median/max", file=out)
    for operation, counts in by_operation(report).items():
        spread = ["/".join(f"{f(getattr(c, a) for c in counts):g}" for _, f in QUANTILES) for a in ("llsc", "lse")]
        print(f"    {operation:18}{len(counts):12}{spread[0]:>22}{spread[1]:>20}", file=out)


def figures(report: Report, keys: dict[str, str | int]) -> list[metrics.Record]:
    """The records that METRICS names, LL/SC and LSE apart where they differ."""
    keys = {**keys, "percpu": report.variant, "source": "disasm"}
    records = [metrics.record("text_bytes", report.text_bytes, "bytes", **keys),
               metrics.record("op_sites", len(report.sites), "count", op="all", **keys)]
    for (operation, bits, form), count in sorted(report.probes.items()):
        if bits != 64:
            continue
        keyed = {**keys, "op": operation, "form": form}
        records.append(metrics.record("op_instructions", count.llsc, "instructions", atomics="llsc", **keyed))
        if operation not in PLAIN:
            records.append(metrics.record("op_instructions", count.lse, "instructions", atomics="lse", **keyed))
            records.append(metrics.record("op_nops", count.nops, "instructions", atomics="lse", **keyed))
    for operation, counts in by_operation(report).items():
        records.append(metrics.record("op_sites", len(counts), "count", op=operation, **keys))
        for atomics in ("llsc",) if operation in PLAIN else ("llsc", "lse"):
            for quantile, of in QUANTILES:
                records.append(metrics.record("site_instructions", of(getattr(c, atomics) for c in counts),
                                              "instructions", op=operation, quantile=quantile, atomics=atomics, **keys))
    return records


def excesses(report: Report, variant: str) -> Iterator[str]:
    """What takes more instructions than `variant` promises, at the probes and at every site."""
    for operation, (llsc, lse) in REQUIRED[variant].items():
        probe = report.probes.get((operation, 64, "pointer"))
        if probe is None:
            yield f"probe_{operation}_64_pointer is missing"
        elif (probe.llsc, probe.lse) != (llsc, lse):
            yield f"probe_{operation}_64_pointer: {probe.llsc} (LSE {probe.lse}) instructions, required {llsc} ({lse})"
        for site in report.sites:
            if site.operation == operation and site.width <= 8 and (site.count.llsc > llsc or site.count.lse > lse):
                yield (f"{operation} in {site.function}: {site.count.llsc} (LSE {site.count.lse}) instructions, "
                       f"required {llsc} ({lse})")


def build_keys(name: str) -> dict[str, str | int]:
    """The keys of a figure, from the build directory's name."""
    match = re.fullmatch(r"(4k|16k|64k)-va(\d+)-\w+?(-debug)?(-clang)?", name)
    return {} if not match else {"page": match[1], "va": int(match[2]), "toolchain": "clang" if match[4] else "gcc"}


def main(arguments: Optional[list[str]] = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("elf", nargs="*", type=Path)
    parser.add_argument("--builds", action="store_true", help="the lean kernels of the compared builds")
    parser.add_argument("--require", choices=REQUIRED, help="fail where an operation is longer than promised")
    parser.add_argument("--metrics", action="store_true", help="publish the figures in build/report/metrics.json")
    parser.add_argument("--json", action="store_true", help="figures to stdout, a record a line; tables to stderr")
    parser.add_argument("--list", action="store_true", help="every site, one a line")
    options = parser.parse_args(arguments)
    paths = options.elf + [ROOT / "build" / name / "atoll-lean.elf" for name in BUILDS if options.builds]
    if not paths:
        parser.error("name an ELF file, or --builds")
    out = sys.stderr if options.json else sys.stdout
    failed = False
    for path in paths:
        name = path.resolve().parent.name
        try:
            report = examine(path)
        except (SiteError, ElfError, OSError, struct.error) as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
            continue
        print_table(name, report, out)
        if options.list:
            for site in report.sites:
                print(f"    {site.address:#x} {site.operation:10} {8 * site.width:3} bits "
                      f"{site.count.llsc:3} (LSE {site.count.lse}) {site.function}", file=out)
        records = figures(report, build_keys(name))
        if options.json:
            print("\n".join(map(json.dumps, records)))
        if options.metrics:
            metrics.update(records)
        if options.require:
            for message in excesses(report, options.require):
                print(f"{path}: {message}", file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
