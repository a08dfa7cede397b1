"""Kernel faults: one selftest, or the check of one boot, on a kernel that is built with the fault."""

from __future__ import annotations

import re

from tests.negative.faults import CheckedFault, KernelFault
from tests.negative.verdict import LOGS, make
from tests.qemu import checks, ktap
from tests.qemu.build import ROOT, Build
from tests.qemu.matrix import Boot
from tests.qemu.qemu import Ending, Outcome


def build(wanted: Build) -> None:
    make(wanted.name, str(wanted.image.relative_to(ROOT)), *wanted.assignments().split())


def planted_problems(fault: KernelFault | CheckedFault) -> list[str]:
    boot = fault.boot(planted=True)
    build(boot.build)
    if isinstance(fault, CheckedFault):
        problems = checks.run(boot).problems
        return [] if any(re.search(fault.message, problem) for problem in problems) else (
            [f"the boot's check says: {problems[0]}"] if problems else [f"{fault.test} passes"])
    outcome = _run(boot)
    if outcome.ending is not Ending.EXITED:
        return [f"{outcome.ending.value}; the test must fail by itself"]
    panics = [text for text in outcome.texts() if text.startswith("panic: ")]
    if panics:
        return [f"{fault.test} does not fail, the kernel does: {panics[0]}"]
    return test_problems(fault, ktap.parse(outcome.texts()))


def test_problems(fault: KernelFault, report: ktap.Report) -> list[str]:
    """Why the report is not the named test's failure alone."""
    if not report.tests:
        return [f"no selftest is named {fault.test}"]
    failures = report.failures()
    if not failures:
        return [f"{fault.test} does not fail"]
    others = [test.name for test in report.tests if test.name != fault.test]
    if others:
        return [f"other tests ran too: {', '.join(others)}"]
    if not re.search(fault.message, failures[0].note):
        return [f"{fault.test} fails, but with: {failures[0].note}"]
    return []


def control_problems(fault: KernelFault | CheckedFault) -> list[str]:
    boot = fault.boot(planted=False)
    if isinstance(fault, CheckedFault):
        return checks.run(boot).problems
    outcome = _run(boot)
    return ktap.judge(outcome.texts(), outcome.status)


def _run(boot: Boot) -> Outcome:
    with boot.machine.start(boot.name, LOGS / f"{boot.name}.log") as qemu:
        return qemu.run_to_end()
