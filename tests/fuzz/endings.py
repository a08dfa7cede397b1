"""How a boot with a bad device tree may end, and how one is told from the other."""

from __future__ import annotations

import enum
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from tests.qemu import ktap, panic_report
from tests.qemu.message import PROMPT, STOP
from tests.qemu.qemu import Qemu

# What a tree can make fail by naming a CPU that is not there.
MAY_FAIL = ("case01_every_possible_cpu_is_online",)
# What mistakes in the command line make fail.
_REFUSED = re.compile(r'(unknown command "|# no selftest matches ")')
_FAILED = re.compile(r"atoll: FAILED \((\d+) failures?\)$")
_PANIC = re.compile(r"panic: (?P<message>.*)")
# A tree can make the kernel reach for what is not there, which is an abort. Nothing in it may break what the kernel
# states of itself, or lead to an access that is reported when nobody knows any more whose it was.
_CRASH = re.compile(r"(assertion failed|SError|break-before-make|kernel stack overflow|fault inside the report): ")
_NUMBER = re.compile(r"\b(0x[0-9a-f]+|\d+)\b")
_LOOK_SECONDS = 0.05


class Ending(enum.Enum):
    """All up to `PROMPT` are what docs/boot.md promises."""

    PASSED = "passed"
    FAILED = "ran, with failures that the tree explains"
    PANIC = "panic report"
    STOPPED = "refused and stopped"
    PROMPT = "monitor prompt"
    UNEXPLAINED = "ran, with failures that no tree explains"
    CRASH = "panic of the kernel over itself"
    WRONG = "ended without a word"
    HUNG = "hung"

    @property
    def is_clean(self) -> bool:
        return self in (Ending.PASSED, Ending.FAILED, Ending.PANIC, Ending.STOPPED, Ending.PROMPT)


def by_status(status: int, lines: Sequence[str]) -> Ending:
    """Of a QEMU that exited. A status needs its line, and the line its status."""
    texts = [line.strip() for line in lines if line.strip()]
    last = texts[-1] if texts else ""
    if status == 0 and ktap.PASS_MARKER in texts:
        return Ending.PASSED
    if status == 1 and (failures := _FAILED.match(last)):
        return Ending.FAILED if _explains(texts, int(failures[1])) else Ending.UNEXPLAINED
    if status == panic_report.STATUS and last == panic_report.END and (messages := panic_messages(texts[:-1])):
        return Ending.CRASH if any(_CRASH.match(message) for message in messages) else Ending.PANIC
    return Ending.WRONG


def _explains(texts: Sequence[str], failures: int) -> bool:
    """Whether the tree can be the reason of all of them."""
    failed = [test.name for test in ktap.parse(texts).failures()]
    refused = sum(bool(_REFUSED.match(text)) for text in texts)
    return all(name in MAY_FAIL for name in failed) and failures == len(failed) + refused


def panic_messages(texts: Sequence[str]) -> list[str]:
    """What was said after `panic: `, in order: the message, which CPU, and that of a fault inside the report."""
    return [match["message"] for text in texts if (match := _PANIC.match(text.strip()))]


def kind_of(message: str) -> str:
    """The message without its numbers: one name for what is the same but for an address."""
    return _NUMBER.sub("#", message)


def by_console(console: str) -> Optional[Ending]:
    """Of a QEMU that runs: the two endings after which nothing happens any more. The prompt is no whole line."""
    lines = console.replace("\r", "").split("\n")
    if lines[-1].endswith(PROMPT):
        return Ending.PROMPT
    whole = [line for line in lines[:-1] if line.strip()]
    return Ending.STOPPED if whole and STOP.match(whole[-1]) else None


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
