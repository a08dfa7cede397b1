"""Does one boot of the matrix and says what is wrong with it."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

from tests.qemu import ktap, outside
from tests.qemu.build import BUILD, PAGE_BYTES
from tests.qemu.gdbstub import GdbError
from tests.qemu.matrix import Boot, Check, Panic, allowed_skips
from tests.qemu.qemu import Ending, Hang, Line, Outcome
from tests.qemu.qmp import QmpError
from tests.qemu.uboot import MediaError

LOGS = BUILD / "logs"
PANIC_STATUS = 2
_PANIC_END = "panic: end of report"
_PANIC_PLACE = re.compile(r"panic: CPU (?P<cpu>\d+) (at \S+:\d+|in an exception); "
                          r"stopped (?P<stopped>\d+) of (?P<others>\d+) other CPUs$")
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
    assert boot.panic is not None
    with boot.machine.start(boot.name, result.log) as qemu:
        outcome = qemu.run_to_end()
    _add_hang(outcome, result)
    result.problems += panic_problems(outcome.texts(), outcome.status, boot.panic, boot.machine.cpus)


def panic_problems(lines: Sequence[str], status: Optional[int], expected: Panic, cpus: int) -> list[str]:
    """Why this console and exit status are not just the expected report, from a machine of `cpus` CPUs."""
    texts = [text for text in lines if text.strip()]
    problems = [] if status == PANIC_STATUS else [f"QEMU exited with status {status}, not {PANIC_STATUS}"]
    if ktap.PASS_MARKER in texts:
        problems.append("a panic was reported as a pass")
    if texts.count(_PANIC_END) != 1 or texts[-1] != _PANIC_END:
        problems.append(f"the last line is not the only `{_PANIC_END}`")
    headings = [i for i, text in enumerate(texts) if text.startswith("panic: ")]
    if len(headings) < 2:
        return [*problems, "no panic report"]
    report = texts[headings[0]:]
    if not re.fullmatch(expected.message, report[0].removeprefix("panic: ")):
        problems.append(f"`{report[0]}` is not `panic: {expected.message}`")
    if not (where := _PANIC_PLACE.match(texts[headings[1]])):
        problems.append(f"`{texts[headings[1]]}` does not say which CPU, where, and how many it stopped")
    elif int(where["cpu"]) != expected.cpu or (int(where["stopped"]), int(where["others"])) != (cpus - 1, cpus - 1):
        problems.append(f"`{where[0]}`: CPU {expected.cpu} should have stopped {cpus - 1} of {cpus - 1}")
    if more := [texts[i] for i in headings[2:] if texts[i] != _PANIC_END]:
        problems.append(f"more than one report: {more[0]}")
    if not any(re.match(rf"  0x[0-9a-f]{{16}} {expected.function}\+0x", text) for text in report):
        problems.append(f"no {expected.function} in the backtrace")
    problems += [f"nothing in the report matches `{detail}`" for detail in expected.details
                 if not re.search(detail, "\n".join(report))]
    return problems


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
