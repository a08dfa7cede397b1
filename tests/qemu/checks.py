"""Does one boot of the matrix and says what is wrong with it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from tests.qemu import ktap, outside
from tests.qemu.build import BUILD, PAGE_BYTES
from tests.qemu.gdbstub import GdbError
from tests.qemu.matrix import Boot, Check, allowed_skips
from tests.qemu.qemu import Ending, Hang, Line, Outcome
from tests.qemu.qmp import QmpError
from tests.qemu.uboot import MediaError

LOGS = BUILD / "logs"
PANIC_STATUS = 2
_PANIC_END = "panic: end of report"
_REFUSAL_QUIET_SECONDS = 2.0


@dataclass
class Result:
    """What came of a boot; no problems means that it passed. `lines` is the console of a finished selftest."""

    boot: Boot
    log: Path
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    tests: list[ktap.Test] = field(default_factory=list)
    lines: tuple[Line, ...] = ()

    def count(self, status: ktap.Status) -> int:
        return sum(test.status is status for test in self.tests)


def run(boot: Boot) -> Result:
    """Boots and checks. What goes wrong with the harness itself is a problem of the boot, too."""
    result = Result(boot, LOGS / f"{boot.name}.log")
    if not boot.build.image.exists():
        result.problems.append(f"{boot.build.image} is missing: make image {boot.build.assignments()}")
        return result
    started = time.monotonic()
    try:
        _CHECKS[boot.check](boot, result)
    except (Hang, QmpError, GdbError, MediaError, OSError) as error:
        result.problems.append(str(error))
    result.seconds = time.monotonic() - started
    return result


def _selftests(boot: Boot, result: Result) -> None:
    with boot.machine.start(boot.name, result.log) as qemu:
        outcome = qemu.run_to_end()
    _add_hang(outcome, result)
    result.lines = outcome.lines
    result.tests = ktap.parse(outcome.texts()).tests
    result.problems += ktap.judge(outcome.texts(), outcome.status, allowed_skips(boot))


def _refusal(boot: Boot, result: Result) -> None:
    """A CPU without the granule walks the tables as if they had another one, so the kernel must not get
    further than the message."""
    granule = f"{PAGE_BYTES[boot.build.page] // 1024}"
    message = (rf"^atoll: this CPU has no {granule}K granule "
               rf"\(ID_AA64MMFR0_EL1\.TGran{granule} = \d+\); stopped$")
    with boot.machine.start(boot.name, result.log) as qemu:
        qemu.wait_for(message)
        time.sleep(_REFUSAL_QUIET_SECONDS)
        running = qemu.is_running()
        outcome = qemu.stop()
    texts = [text for text in outcome.texts() if text.strip()]
    if not texts[-1].startswith("atoll: this CPU has no"):
        result.problems.append(f"went on after it refused to: {texts[-1]}")
    if not running:
        result.problems.append("QEMU ended; the kernel should stop and stay")


def _panic(boot: Boot, result: Result) -> None:
    with boot.machine.start(boot.name, result.log) as qemu:
        outcome = qemu.run_to_end()
    _add_hang(outcome, result)
    texts = [text for text in outcome.texts() if text.strip()]
    if outcome.status != PANIC_STATUS:
        result.problems.append(f"QEMU exited with status {outcome.status}, not {PANIC_STATUS}")
    if texts.count(_PANIC_END) != 1 or texts[-1] != _PANIC_END:
        result.problems.append(f"the last line is not the only `{_PANIC_END}`")
    if ktap.PASS_MARKER in texts:
        result.problems.append("a panic was reported as a pass")


def _outside(boot: Boot, result: Result) -> None:
    with boot.machine.start(boot.name, result.log, qmp=True, gdb=True) as qemu:
        lines = qemu.lines()
        while not (report := ktap.parse(line.text for line in lines)).is_complete:
            qemu.wait_for(r"^(not )?ok \d+ ", start=len(lines))
            lines = qemu.lines()
        result.tests = report.tests
        result.problems += [f"{test.name}: {test.note}" for test in report.failures()] + report.problems
        result.problems += outside.compare_roots(qemu, boot.build, boot.machine.cpus)
        qemu.stop()


def _add_hang(outcome: Outcome, result: Result) -> None:
    if outcome.ending is not Ending.EXITED:
        last = outcome.lines[-1].text if outcome.lines else "nothing"
        result.problems.append(f"{outcome.ending.value} after {outcome.seconds:.0f} s; the last line: {last}")


_CHECKS: dict[Check, Callable[[Boot, Result], None]] = {
    Check.SELFTESTS: _selftests,
    Check.REFUSAL: _refusal,
    Check.PANIC: _panic,
    Check.OUTSIDE: _outside,
}
