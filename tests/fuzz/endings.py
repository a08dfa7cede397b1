"""How a boot with a bad device tree may end, and how one is told from the other."""

from __future__ import annotations

import enum
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from tests.qemu import ktap
from tests.qemu.qemu import Qemu

_FAILED = re.compile(r"atoll: FAILED \(\d+ failures?\)$")
_PANIC_END = "panic: end of report"
_STOPPED = re.compile(r"^(atoll|device tree): .*\bstopped$")
_PROMPT = "atoll> "
_LOOK_SECONDS = 0.05


class Ending(enum.Enum):
    """All but the last two are what docs/boot.md promises."""

    PASSED = "passed"
    FAILED = "ran, with failures"
    PANIC = "panic report"
    STOPPED = "refused and stopped"
    PROMPT = "monitor prompt"
    WRONG = "ended without a word"
    HUNG = "hung"

    @property
    def is_clean(self) -> bool:
        return self not in (Ending.WRONG, Ending.HUNG)


def by_status(status: int, lines: Sequence[str]) -> Ending:
    """Of a QEMU that exited. A status needs its line, and the line its status."""
    texts = [line.strip() for line in lines if line.strip()]
    last = texts[-1] if texts else ""
    if status == 0 and ktap.PASS_MARKER in texts:
        return Ending.PASSED
    if status == 1 and _FAILED.search(last):
        return Ending.FAILED
    if status == 2 and last == _PANIC_END and any(text.startswith("panic: ") for text in texts[:-1]):
        return Ending.PANIC
    return Ending.WRONG


def by_console(console: str) -> Optional[Ending]:
    """Of a QEMU that runs: the two endings after which nothing happens any more. The prompt is no whole line."""
    lines = console.replace("\r", "").split("\n")
    if lines[-1].endswith(_PROMPT):
        return Ending.PROMPT
    whole = [line for line in lines[:-1] if line.strip()]
    return Ending.STOPPED if whole and _STOPPED.search(whole[-1]) else None


def wait(qemu: Qemu, log: Path, seconds: float) -> Ending:
    """Watches a boot to its end, at most so long; leaves QEMU's reaping to its `with`."""
    deadline = time.monotonic() + seconds
    while qemu.is_running():
        if (ending := by_console(_text(log))) is not None:
            return ending
        if time.monotonic() > deadline:
            return Ending.HUNG
        time.sleep(_LOOK_SECONDS)
    outcome = qemu.run_to_end()
    return Ending.WRONG if outcome.status is None else by_status(outcome.status, outcome.texts())


def _text(log: Path) -> str:
    return log.read_text(errors="replace") if log.exists() else ""
