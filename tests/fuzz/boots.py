"""Boots mutated device trees: `python3 -m tests.fuzz.boots --count N [--seed S] [--filter GLOB]`.

Each boot gets QEMU's own tree of its machine with a few mistakes in it (tests/fuzz/mutator.hpp), byte for byte, through
the stub loader, and must come to one of the clean endings of tests/fuzz/endings.py within ten seconds. A mutant that
does not is kept under build/fuzz/boots/; `--repeat NAME` boots it again.

Ten seconds are ten times what a boot takes, on a host that does nothing else. On one that does, a sound tree is slow as
well: where the machine's own tree, booted first, takes longer than a fourth of the limit, four times that is the limit,
though never more than half a minute. And a boot that is found hung is repeated when all others are over, alone, and
fails the run only if it hangs again; if it does not, the summary says so, and tree and first log are kept.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import fnmatch
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.endings import Ending, kind_of, panic_messages, wait
from tests.qemu import results
from tests.qemu.build import BUILD, DEFAULT_CPU, ROOT, Build
from tests.qemu.machine import STUB, Machine, describe
from tests.qemu.qemu import Limits, Qemu, reap_on_signals

KEPT = BUILD / "fuzz/boots"
MUTANT = BUILD / "fuzz/mutant"
_LIMIT_SECONDS = 10.0
_MOST_SECONDS = 30.0
_PROGRESS_SECONDS = 5.0
_COMMAND_LINE = "run=selftest,poweroff"
_MAKE_SECONDS = 600.0


@dataclass(frozen=True)
class Base:
    """A machine whose tree is mutated. `share` is how many boots are its, of as many as all shares together."""

    name: str
    share: int
    page: str = "4k"
    gic: str = "3"
    options: str = ""
    extra: tuple[str, ...] = ()

    @property
    def build(self) -> Build:
        return Build(page=self.page, debug=True)

    @property
    def machine(self) -> Machine:
        return Machine(image=self.build.image, cpu=DEFAULT_CPU[self.page], boot="stub", memory="1G", gic=self.gic,
                       options=self.options, extra=self.extra, command_line=_COMMAND_LINE)


_NODES = ("-object", "memory-backend-ram,id=low,size=256M", "-object", "memory-backend-ram,id=high,size=768M",
          "-numa", "node,nodeid=0,memdev=low,cpus=0-1", "-numa", "node,nodeid=1,memdev=high,cpus=2-3")
BASES = (
    Base("gicv3", 4),
    Base("gicv2", 2, gic="2"),
    Base("el2", 1, options="virtualization=on"),
    Base("nodes", 2, extra=_NODES),
    Base("16k", 1, page="16k"),
    Base("64k", 1, page="64k"),
)


@dataclass(frozen=True)
class Boot:
    """One mutant; `name` says all there is to know of it."""

    base: Base
    seed: int

    @property
    def name(self) -> str:
        return f"{self.base.name}-{self.seed}"

    @property
    def tree(self) -> Path:
        return KEPT / f"{self.name}.dtb"

    @property
    def log(self) -> Path:
        return KEPT / f"{self.name}.log"


    @property
    def hung_log(self) -> Path:
        """Of a boot that was repeated because it hung: the first one's."""
        return KEPT / f"{self.name}.hung.log"


@dataclass(frozen=True)
class Result:
    boot: Boot
    ending: Ending
    seconds: float
    mutations: str
    last_line: str
    hung_before: bool = False

    @property
    def is_kept(self) -> bool:
        return self.hung_before or not self.ending.is_clean


@dataclass(frozen=True)
class Prepared:
    """A base's own tree, and how long a boot of a mutant may take."""

    tree: Path
    limit: float


def choose(count: int, seed: int, globs: list[str]) -> list[Boot]:
    """`count` boots, shared out among the bases; the same for the same seed."""
    turns = [base for base in BASES for _ in range(base.share)
             if not globs or any(fnmatch.fnmatchcase(base.name, glob) for glob in globs)]
    # A stride that has no factor in common with the number of turns mixes them.
    stride = next(step for step in (5, 7, 1) if len(turns) % step != 0 or step == 1)
    return [Boot(turns[i * stride % len(turns)], seed + i) for i in range(count)] if turns else []


def named(name: str) -> Boot:
    match = re.fullmatch(r"(.+)-(\d+)", name)
    found = [base for base in BASES if match and base.name == match[1]]
    if not match or not found:
        raise argparse.ArgumentTypeError(f"{name!r} is not BASE-SEED with a base of {[base.name for base in BASES]}")
    return Boot(found[0], int(match[2]))


def prepare(base: Base) -> Prepared:
    """Boots the base's own tree, which must pass. Raises OSError where it does not."""
    if not base.build.image.exists():
        raise OSError(f"{base.build.image.relative_to(ROOT)} is missing: `make builds` makes all, "
                      f"`make image {base.build.assignments()}` this one")
    tree = describe(base.machine)
    log = KEPT / f"{base.name}.log"
    ending, seconds = _boot(base, tree, log, Limits.for_cpus(base.machine.cpus).whole)
    limit = limit_after(seconds)
    print(f"  {base.name}: its own tree {ending.value}, {seconds:.1f} s; limit {limit:.1f} s", flush=True)
    if ending is not Ending.PASSED:
        raise OSError(f"{base.name} does not boot with the tree that is true: {log.relative_to(ROOT)}")
    return Prepared(tree, limit)


def limit_after(seconds: float) -> float:
    """How long a mutant may take, where the machine's own tree takes so long."""
    return min(max(_LIMIT_SECONDS, 4 * seconds), _MOST_SECONDS)


def run(boot: Boot, prepared: Prepared) -> Result:
    done = subprocess.run([str(MUTANT), str(prepared.tree), str(boot.seed), "light", str(boot.tree)], check=True,
                          timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
    ending, seconds = _boot(boot.base, boot.tree, boot.log, prepared.limit)
    texts = [line.strip() for line in boot.log.read_text(errors="replace").splitlines() if line.strip()]
    if ending in (Ending.PANIC, Ending.CRASH):
        texts = panic_messages(texts)[:1]
    return Result(boot, ending, seconds, done.stdout.strip(), texts[-1] if texts else "nothing")


def _boot(base: Base, tree: Path, log: Path, limit: float) -> tuple[Ending, float]:
    machine = dataclasses.replace(base.machine, device_tree=tree)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    started = time.monotonic()
    arguments = [*machine.arguments("fuzz"), "-serial", "stdio"]
    with Qemu(arguments, log, Limits(silence=limit, whole=limit)) as qemu:
        ending = wait(qemu, log, limit)
    return ending, time.monotonic() - started


def run_all(chosen: list[Boot], prepared: dict[Base, Prepared], jobs: int) -> Iterator[Result]:
    """In the order in which they end; those that look hung at last, repeated alone."""
    again: list[Boot] = []
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for done in as_completed([pool.submit(run, boot, prepared[boot.base]) for boot in chosen]):
            if (result := done.result()).ending is Ending.HUNG:
                again.append(result.boot)
            else:
                yield result
    for boot in again:
        boot.log.replace(boot.hung_log)
        yield dataclasses.replace(run(boot, prepared[boot.base]), hung_before=True)


def report(result: Result) -> str:
    return (f"FAILED {result.boot.name}: {result.ending.value} after {result.seconds:.1f} s; the last line: "
            f"{result.last_line[:120]}\n      mutations: {result.mutations}\n"
            f"      tree {result.boot.tree.relative_to(ROOT)}, log {result.boot.log.relative_to(ROOT)}; "
            f"again: python3 -m tests.fuzz.boots --repeat {result.boot.name}")


def keep_only_failures(every: list[Result]) -> None:
    for result in every:
        if not result.is_kept:
            result.boot.tree.unlink(missing_ok=True)
            result.boot.log.unlink(missing_ok=True)


def as_case(result: Result) -> results.Case:
    problems = [] if result.ending.is_clean else [f"{result.ending.value}; mutations: {result.mutations}"]
    return results.Case(result.boot.name, round(result.seconds, 1), problems, str(result.boot.log.relative_to(ROOT)),
                        {"ending": result.ending.value, "last": result.last_line[:200],
                         "hung_before": int(result.hung_before)})


def summary(finished: list[Result]) -> Iterator[str]:
    """How many ended how, with what message those that panicked, and which hung once."""
    endings = collections.Counter(result.ending for result in finished)
    yield "endings: " + ", ".join(f"{endings[ending]} {ending.value}" for ending in Ending if endings[ending])
    panics = collections.Counter(kind_of(result.last_line) for result in finished if result.ending is Ending.PANIC)
    yield from (f"  {count} panic: {kind}" for kind, count in panics.most_common())
    for result in finished:
        if result.hung_before and result.ending is not Ending.HUNG:
            yield (f"  {result.boot.name} hung once, alone it ended: {result.ending.value} "
                   f"({result.boot.hung_log.relative_to(ROOT)})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20, help="mutants to boot")
    parser.add_argument("--seed", type=int, default=1, help="the first mutant's number")
    parser.add_argument("--filter", action="append", default=[], metavar="GLOB", help="only these bases")
    parser.add_argument("--repeat", type=named, action="append", default=[], metavar="NAME", help="only this mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="boots at a time")
    parser.add_argument("--keep", action="store_true", help="keep all trees and logs, not only those of failures")
    parser.add_argument("--verbose", action="store_true", help="a line for every boot")
    arguments = parser.parse_args()
    chosen = arguments.repeat or choose(arguments.count, arguments.seed, arguments.filter)
    if not chosen:
        print("no base has such a name", file=sys.stderr)
        return 1

    reap_on_signals()
    started = time.monotonic()
    subprocess.run(["make", "--no-print-directory", *(str(path.relative_to(ROOT)) for path in (MUTANT, STUB))],
                   cwd=ROOT, check=True, timeout=_MAKE_SECONDS, stdout=subprocess.DEVNULL)
    KEPT.mkdir(parents=True, exist_ok=True)
    try:
        prepared = {base: prepare(base) for base in dict.fromkeys(boot.base for boot in chosen)}
    except OSError as error:
        print(f"mutant boots: {error}")
        return 1
    finished: list[Result] = []
    next_progress = time.monotonic() + _PROGRESS_SECONDS
    for result in run_all(chosen, prepared, arguments.jobs):
        finished.append(result)
        if not result.ending.is_clean:
            print(report(result), flush=True)
        elif arguments.verbose:
            print(f"{result.boot.name:12} {result.seconds:5.1f} s  {result.ending.value}: {result.last_line[:90]}\n"
                  f"      {result.mutations}", flush=True)
        if time.monotonic() > next_progress:
            print(f"  {len(finished)} of {len(chosen)} mutants booted", flush=True)
            next_progress = time.monotonic() + _PROGRESS_SECONDS
    seconds = time.monotonic() - started
    if not arguments.keep:
        keep_only_failures(finished)
    path = results.write("fuzz-boots", [as_case(result) for result in finished], seconds)
    failed = sum(not result.ending.is_clean for result in finished)
    print("\n".join(summary(finished)))
    print(f"mutant boots: {len(finished) - failed} passed, {failed} failed in {seconds:.0f} s "
          f"({path.relative_to(ROOT)})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
