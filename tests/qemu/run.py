"""Boots the matrix: `python3 -m tests.qemu.run [--filter GLOB] [--shard I/N] [--list] [--list-builds]`.

Small machines run two at a time, large ones alone. Prints a line a boot and ends with
`N passed, N failed`; the exit status is 1 if any failed. Logs are kept under build/logs/.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

from tests.qemu import checks, results
from tests.qemu.build import ROOT
from tests.qemu.ktap import Status
from tests.qemu.matrix import Boot, boots
from tests.qemu.qemu import reap_on_signals

_SMALL_AT_ONCE = 2


def shard(text: str) -> tuple[int, int]:
    """`I/N`: the I-th of N shards, counted from 1."""
    try:
        index, count = (int(part) for part in text.split("/"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form I/N") from None
    if not 1 <= index <= count:
        raise argparse.ArgumentTypeError(f"shard {index} of {count} does not exist")
    return index, count


def select(every: list[Boot], globs: list[str], part: tuple[int, int]) -> list[Boot]:
    """The boots that a glob matches, all if there is no glob; of those every N-th."""
    named = [boot for boot in every if not globs or any(fnmatch.fnmatchcase(boot.name, glob) for glob in globs)]
    index, count = part
    return named[index - 1::count]


def list_builds(chosen: list[Boot]) -> Iterator[str]:
    """Make variable assignments of the images that the boots need, each once."""
    for build in dict.fromkeys(boot.build for boot in chosen):
        yield build.assignments()


def run_all(chosen: list[Boot]) -> Iterator[checks.Result]:
    """Results in the order in which the boots end."""
    for large, at_once in ((False, _SMALL_AT_ONCE), (True, 1)):
        with ThreadPoolExecutor(max_workers=at_once) as pool:
            waiting = [pool.submit(checks.run, boot) for boot in chosen if boot.is_large is large]
            for done in as_completed(waiting):
                yield done.result()


def progress_line(number: int, total: int, result: checks.Result) -> str:
    verdict = "FAILED" if result.problems else "ok"
    tests = f"{result.count(Status.PASSED)} selftests" if result.tests else result.boot.check.name.lower()
    skipped = result.count(Status.SKIPPED)
    line = f"[{number:3}/{total}] {verdict:6} {result.boot.name:44} {result.seconds:6.1f} s  {tests}"
    line += f", {skipped} skipped" if skipped else ""
    return "\n".join([line] + [f"      {problem}" for problem in result.problems[:10]]
                     + ([f"      log: {result.log.relative_to(ROOT)}"] if result.problems else []))


def as_case(result: checks.Result) -> results.Case:
    counts: dict[str, int | str] = {f"selftests_{status.value}": result.count(status) for status in Status}
    return results.Case(result.boot.name, round(result.seconds, 2), result.problems,
                        str(result.log.relative_to(ROOT)), counts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", action="append", default=[], metavar="GLOB", help="only these boots")
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="I/N", help="only the I-th of N parts")
    parser.add_argument("--list", action="store_true", help="print the boots' names")
    parser.add_argument("--list-builds", action="store_true", help="print what to give to `make image`, a line each")
    arguments = parser.parse_args()
    chosen = select(boots(), arguments.filter, arguments.shard)
    if not chosen:
        print("no boot has such a name", file=sys.stderr)
        return 1
    if arguments.list or arguments.list_builds:
        print("\n".join(list_builds(chosen) if arguments.list_builds else (boot.name for boot in chosen)))
        return 0

    reap_on_signals()
    started = time.monotonic()
    finished: list[checks.Result] = []
    for result in run_all(chosen):
        finished.append(result)
        print(progress_line(len(finished), len(chosen), result), flush=True)
    seconds = time.monotonic() - started
    path = results.write("qemu", [as_case(result) for result in finished], seconds)
    failed = [result for result in finished if result.problems]
    for result in failed:
        print(f"FAILED {result.boot.name}: {result.problems[0]}")
    print(f"boots: {len(finished) - len(failed)} passed, {len(failed)} failed in {seconds:.0f} s "
          f"({path.relative_to(ROOT)})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
