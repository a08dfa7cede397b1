"""Does one boot of the matrix and says what is wrong with it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from tests.qemu import conversation, gdb_session, intact, ktap, message, outside, panic_report
from tests.qemu.build import BUILD
from tests.qemu.gdbstub import GdbError
from tests.qemu.qemu import Ending, Hang, Line, Outcome
from tests.qemu.qmp import QmpError
from tests.qemu.spec import Boot, Check, allowed_skips
from tests.qemu.trees import TreeError
from tests.qemu.uboot import MediaError

LOGS = BUILD / "logs"


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
        result.problems.append(f"{boot.build.image} is missing: `make builds` makes all, "
                               f"`make image {boot.build.assignments()}` this one")
        return result
    started = time.monotonic()
    try:
        _CHECKS[boot.check](boot, result)
    except (Hang, QmpError, GdbError, MediaError, TreeError, OSError) as error:
        result.problems.append(str(error))
    result.seconds = time.monotonic() - started
    if 0 < boot.seconds < result.seconds:
        result.problems.append(f"took {result.seconds:.1f} s, not at most {boot.seconds:.1f} s")
    return result


def _selftests(boot: Boot, result: Result) -> None:
    with boot.start(result.log) as qemu:
        outcome = qemu.run_to_end()
    _add_hang(outcome, result)
    result.lines = outcome.lines
    result.tests = ktap.parse(outcome.texts()).tests
    result.problems += ktap.judge(outcome.texts(), outcome.status, allowed_skips(boot))
    result.problems += message.missing(outcome.texts(), boot.says)


def _commands(boot: Boot, result: Result) -> None:
    with boot.start(result.log) as qemu:
        outcome = qemu.run_to_end()
    _add_hang(outcome, result)
    result.problems += ktap.ending_problems(outcome.texts(), outcome.status)
    result.problems += message.missing(outcome.texts(), boot.says)


def _message(boot: Boot, result: Result) -> None:
    with boot.start(result.log) as qemu:
        if message.STOP.match(qemu.wait_for(message.DECIDED).text):
            time.sleep(message.QUIET_SECONDS)
            outcome = qemu.stop() if qemu.is_running() else qemu.run_to_end()
        else:
            outcome = qemu.run_to_end()
    _add_hang(outcome, result)
    result.problems += message.problems_of(outcome.texts(), outcome.status, boot.says)


def _panic(boot: Boot, result: Result) -> None:
    assert boot.panic is not None
    with boot.start(result.log) as qemu:
        outcome = qemu.run_to_end()
    _add_hang(outcome, result)
    result.problems += panic_report.problems_of(outcome.texts(), outcome.status, boot.panic, boot.machine.cpus)


def _console(boot: Boot, result: Result) -> None:
    """All of it is typed before the kernel reads at all: it waits in QEMU and in the UART, which is always full."""
    with boot.start(result.log) as qemu:
        outcome = qemu.run_to_end()
    _add_hang(outcome, result)
    result.problems += conversation.problems_of(outcome.texts(), outcome.status)


def _intact(boot: Boot, result: Result) -> None:
    with boot.start(result.log, qmp=True) as qemu:
        qemu.wait_for(intact.DUMP_END)
        qemu.qmp.execute("stop")
        texts = [line.text for line in qemu.lines()]
        result.problems += intact.byte_problems(boot.intact, qemu.qmp.read_physical)
        if boot.initrd:
            result.problems += intact.initrd_problems(texts, boot.initrd, qemu.qmp.read_physical)
        qemu.stop()
    report = ktap.parse(texts)
    result.tests = report.tests
    result.problems += [f"{test.name}: {test.note}" for test in report.failures()] + report.problems
    result.problems += intact.map_problems(texts, boot.unmapped) + message.missing(texts, boot.says)


def _outside(boot: Boot, result: Result) -> None:
    with boot.start(result.log, qmp=True, gdb=True) as qemu:
        lines = qemu.lines()
        while not (report := ktap.parse(line.text for line in lines)).is_complete:
            qemu.wait_for(r"^(not )?ok \d+ ", start=len(lines))
            lines = qemu.lines()
        result.tests = report.tests
        result.problems += [f"{test.name}: {test.note}" for test in report.failures()] + report.problems
        result.problems += outside.compare_roots(qemu, boot.build, boot.machine.cpus)
        qemu.stop()


def _debugger(boot: Boot, result: Result) -> None:
    """At the prompt, or, where the boot ends by itself, all the way from reset."""
    with boot.start(result.log, gdb=True) as qemu:
        if boot.command_line:
            result.problems += gdb_session.from_reset_to_panic(qemu, boot.build, boot.machine.cpus)
        else:
            qemu.wait_for("^boot: online")
            qemu.write("\ncpus\n")
            qemu.wait_for(rf"^{boot.machine.cpus} of {boot.machine.cpus} CPUs online$")
            result.problems += gdb_session.monitor_reads_the_last_cpu(qemu, boot.machine.cpus)
            result.problems += gdb_session.at_the_prompt(qemu, boot.build, boot.machine.cpus)
        qemu.stop()


def _add_hang(outcome: Outcome, result: Result) -> None:
    if outcome.ending in (Ending.SILENT, Ending.TOO_LONG):
        last = outcome.lines[-1].text if outcome.lines else "nothing"
        result.problems.append(f"{outcome.ending.value} after {outcome.seconds:.0f} s; the last line: {last}")


_CHECKS: dict[Check, Callable[[Boot, Result], None]] = {
    Check.SELFTESTS: _selftests,
    Check.COMMANDS: _commands,
    Check.MESSAGE: _message,
    Check.PANIC: _panic,
    Check.CONSOLE: _console,
    Check.INTACT: _intact,
    Check.OUTSIDE: _outside,
    Check.DEBUGGER: _debugger,
}
