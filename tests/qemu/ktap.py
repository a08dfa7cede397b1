"""A strict parser of the kernel's selftest output (KTAP version 1), and the verdict on a boot.

The kernel's other lines may stand between KTAP lines and are ignored. Everything else that is not as
it must be is a problem: no plan, a plan that comes late or twice, tests that are missing, extra,
misnumbered or named twice, a skip that nobody expected.
"""

from __future__ import annotations

import enum
import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Optional

PASS_MARKER = "atoll: all runs passed"
FAIL_MARKER = "atoll: FAILED"
_PANIC = "panic: "

_VERSION = re.compile(r"KTAP version (\d+)$")
_PLAN = re.compile(r"1\.\.(\d+)$")
_RESULT = re.compile(r"(?P<not>not )?ok (?P<number>\d+) (?P<name>\S+)(?: # (?P<note>.*))?$")
_SKIP = re.compile(r"SKIP\b ?(.*)$")


class Status(enum.Enum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Test:
    """One result line. `note` is a failure's message or a skip's reason."""

    name: str
    status: Status
    note: str = ""


@dataclass
class Report:
    """What one console said. `planned` is None until the plan has come."""

    planned: Optional[int] = None
    tests: list[Test] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        return self.planned is not None and len(self.tests) >= self.planned

    def count(self, status: Status) -> int:
        return sum(test.status is status for test in self.tests)

    def failures(self) -> list[Test]:
        return [test for test in self.tests if test.status is Status.FAILED]


def parse(lines: Iterable[str]) -> Report:
    """Reads one selftest run. Problems of form are listed in the report, in the order of the lines."""
    report = Report()
    version_seen = False
    for text in lines:
        line = text.strip()
        if version := _VERSION.match(line):
            if version_seen:
                report.problems.append("a second KTAP run begins")
            if version[1] != "1":
                report.problems.append(f"KTAP version {version[1]}, not 1")
            version_seen = True
        elif plan := _PLAN.match(line):
            _take_plan(report, int(plan[1]), version_seen)
        elif result := _RESULT.match(line):
            _take_result(report, result)
        elif line.startswith(("ok ", "not ok ")):
            report.problems.append(f"malformed result line: {line}")
    if not version_seen:
        report.problems.append("no KTAP version line")
    if report.planned is None:
        report.problems.append("no plan")
    elif report.planned != len(report.tests):
        report.problems.append(f"{report.planned} tests planned, {len(report.tests)} run")
    return report


def _take_plan(report: Report, count: int, version_seen: bool) -> None:
    if not version_seen:
        report.problems.append("the plan comes before the KTAP version line")
    if report.planned is not None:
        report.problems.append("a second plan")
    if report.tests:
        report.problems.append("the plan comes after the first result")
    if count == 0:
        report.problems.append("an empty plan: nothing would be tested")
    report.planned = count


def _take_result(report: Report, result: re.Match[str]) -> None:
    name, note = result["name"], result["note"] or ""
    number = int(result["number"])
    if number != len(report.tests) + 1:
        report.problems.append(f"test {name} has number {number}, not {len(report.tests) + 1}")
    if report.planned is None:
        report.problems.append(f"test {name} comes before the plan")
    if any(test.name == name for test in report.tests):
        report.problems.append(f"test {name} is reported twice")
    skip = _SKIP.match(note)
    if result["not"]:
        if skip or not note:
            report.problems.append(f"test {name} fails without saying why")
        report.tests.append(Test(name, Status.FAILED, note))
    elif skip:
        report.tests.append(Test(name, Status.SKIPPED, skip[1]))
    else:
        report.tests.append(Test(name, Status.PASSED, note))


def judge(lines: Sequence[str], exit_status: Optional[int], allowed_skips: Iterable[str] = ()) -> list[str]:
    """Why a boot with `run=selftest,poweroff` did not pass; an empty list where it did.

    A pass needs the exit status and the marker both: PSCI power-off gives status 0 whatever happened
    before. `allowed_skips` are globs of the reasons for which tests may be skipped in this configuration.
    """
    allowed = list(allowed_skips)
    report = parse(lines)
    problems = [f"{test.name}: {test.note}" for test in report.failures()] + report.problems
    for test in report.tests:
        if test.status is Status.SKIPPED and not any(fnmatch.fnmatchcase(test.note, glob) for glob in allowed):
            problems.append(f"{test.name} was skipped ({test.note}), which is not expected here")
    return problems + ending_problems(lines, exit_status)


def ending_problems(lines: Sequence[str], exit_status: Optional[int]) -> list[str]:
    """Why a boot did not end as one in which nothing failed."""
    problems = [line for line in lines if line.startswith(_PANIC)][:1]
    problems += [line for line in lines if line.startswith(FAIL_MARKER)]
    if exit_status != 0:
        problems.append("QEMU did not exit" if exit_status is None else f"QEMU exited with status {exit_status}")
    if PASS_MARKER not in (line.strip() for line in lines):
        problems.append(f"no line `{PASS_MARKER}`")
    return problems
