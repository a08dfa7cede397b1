"""Negative controls: `python3 -m tests.negative.run [--filter GLOB] [--shard I/N] [--jobs N] [--list]`.

Builds the tree with one planted fault at a time (FAULT=name) and runs the one test that must catch it.
A fault counts as caught only if just that test fails, with its own message, and if the same test passes
with the fault off. Ends with `N caught of N`; the exit status is 1 if one was missed.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

from tests.negative import host, kernel
from tests.negative.faults import FAULTS, Fault, HostFault, unlisted
from tests.negative.verdict import BuildFailed
from tests.qemu import results
from tests.qemu.qemu import reap_on_signals
from tests.qemu.run import shard
from tools import metrics


def problems_of(fault: Fault) -> list[str]:
    """Why `fault` does not count as caught; empty where it does."""
    side = host if isinstance(fault, HostFault) else kernel
    try:
        return ([f"with the fault: {problem}" for problem in side.planted_problems(fault)]
                or [f"without the fault: {problem}" for problem in side.control_problems(fault)])
    except BuildFailed as error:
        return [str(error)]


def as_case(fault: Fault) -> results.Case:
    started = time.monotonic()
    problems = problems_of(fault)
    return results.Case(fault.name, round(time.monotonic() - started, 1), problems, "",
                        {"kind": "host" if isinstance(fault, HostFault) else "kernel", "test": fault.test})


def build_controls(faults: list[Fault]) -> None:
    """What the control runs need, each once, before the faults' builds run side by side."""
    if any(isinstance(fault, HostFault) for fault in faults):
        host.build_control()
    boots = [fault.boot(planted=False) for fault in faults if not isinstance(fault, HostFault)]
    for build in dict.fromkeys(boot.build for boot in boots):
        kernel.build(build)


def publish(cases: list[results.Case], seconds: float) -> int:
    """Writes results and metrics; the number caught."""
    caught = sum(not case.problems for case in cases)
    results.write("negative", cases, seconds, total=len(cases), caught=caught)
    metrics.update([metrics.record("negative_total", len(cases), "count"),
                    metrics.record("negative_caught", caught, "count")])
    return caught


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", action="append", default=[], metavar="GLOB", help="only these faults")
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="I/N", help="only the I-th of N parts")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="faults at a time")
    parser.add_argument("--list", action="store_true", help="print the faults' names")
    arguments = parser.parse_args()
    chosen = [fault for fault in FAULTS if not arguments.filter
              or any(fnmatch.fnmatchcase(fault.name, glob) for glob in arguments.filter)]
    index, count = arguments.shard
    chosen = chosen[index - 1::count]
    if arguments.list:
        print("\n".join(fault.name for fault in chosen))
        return 0

    reap_on_signals()
    started = time.monotonic()
    for problem in unlisted():
        print(problem)
    print("building what the controls run", flush=True)
    try:
        build_controls(chosen)
    except BuildFailed as error:
        print(error)
        return 1
    cases: list[results.Case] = []
    with ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        for done in as_completed([pool.submit(as_case, fault) for fault in chosen]):
            case = done.result()
            cases.append(case)
            verdict = "MISSED" if case.problems else "caught"
            print(f"[{len(cases):3}/{len(chosen)}] {verdict} {case.name:32} {case.seconds:6.1f} s  "
                  f"by {case.properties['test']}", flush=True)
            for problem in case.problems:
                print(f"      {problem}", flush=True)
    caught = publish(cases, time.monotonic() - started)
    print(f"{caught} caught of {len(cases)}")
    return 0 if caught == len(cases) and not unlisted() else 1


if __name__ == "__main__":
    sys.exit(main())
