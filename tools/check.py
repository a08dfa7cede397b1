#!/usr/bin/env python3
"""`make check`: runs every kind of test, whatever fails before it, and ends with `N passed, N failed`.

Each step is a command of its own that a developer can repeat; its counts come from the report it writes, or,
where a step is one thing, from its exit status. A step that ends without a report counts as one failure.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

Counts = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Step:
    """One command, and how its output and exit status become (passed, failed)."""

    name: str
    command: Sequence[str]
    count: Callable[[str, int], Counts]
    report: str | None = None  # removed before the step, so that an old one is never counted


def by_status(_output: str, status: int) -> Counts:
    return (1, 0) if status == 0 else (0, 1)


def by_unittest(output: str, status: int) -> Counts:
    ran = re.findall(r"^Ran (\d+) tests?", output, re.MULTILINE)
    if not ran:
        return 0, 1
    bad = sum(int(n) for n in re.findall(r"(?:failures|errors|unexpected successes)=(\d+)", output))
    failed = bad if status != 0 and bad else int(status != 0)
    return int(ran[-1]) - failed, failed


def by_report(name: str, command: Sequence[str], report: str, passed: Callable[[dict], int],
              failed: Callable[[dict], int]) -> Step:
    """A step that writes its counts to a JSON report."""

    def count(_output: str, status: int) -> Counts:
        try:
            content = json.loads(pathlib.Path(report).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0, 1
        return passed(content), max(failed(content), int(status != 0))

    return Step(name, command, count, report)


def make(*goals: str) -> list[str]:
    return ["make", "--no-print-directory", *goals]


def mutant_boots(count: int) -> Step:
    return by_report("mutant boots", [sys.executable, "-m", "tests.fuzz.boots", "--count", str(count)],
                     "build/report/results/fuzz-boots.json", lambda r: r["passed"], lambda r: r["failed"])


COMMON = [
    Step("lint", make("lint"), by_status),
    Step("python tests", [sys.executable, "-m", "unittest", "discover", "-t", ".", "-s", "tests"], by_unittest),
    Step("host build", make("host-build"), by_status),
    by_report("host tests", make("host-test"), "build/host/report.json",
              lambda r: r["tests"] - r["failures"] - r.get("errors", 0), lambda r: r["failures"] + r.get("errors", 0)),
    Step("kernel builds", make("builds"), by_status),
    by_report("boots", make("qemu-test"), "build/report/results/qemu.json",
              lambda r: r["passed"], lambda r: r["failed"]),
]
BASIC = [*COMMON, mutant_boots(20)]
FULL = [
    *COMMON,
    mutant_boots(200),
    Step("fuzz", make("fuzz"), by_status),
    by_report("negative controls", make("negative"), "build/report/results/negative.json",
              lambda r: r["caught"], lambda r: r["total"] - r["caught"]),
]


def run(step: Step) -> Counts:
    """Runs the step with its output passed on as it comes."""
    if step.report is not None:
        pathlib.Path(step.report).unlink(missing_ok=True)
    lines: list[str] = []
    with subprocess.Popen(step.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            sys.stdout.write(line)
            sys.stdout.flush()
    return step.count("".join(lines), process.returncode)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also what is too long for every change")
    steps = FULL if parser.parse_args().full else BASIC

    summary = []
    for number, step in enumerate(steps, 1):
        print(f"== {number}/{len(steps)} {step.name}", flush=True)
        start = time.monotonic()
        passed, failed = run(step)
        summary.append((step.name, passed, failed, time.monotonic() - start))
    print()
    for name, passed, failed, seconds in summary:
        print(f"{name:20} {passed:5} passed {failed:4} failed {seconds:7.1f} s")
    failed = sum(row[2] for row in summary)
    print(f"{sum(row[1] for row in summary)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
