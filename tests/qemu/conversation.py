"""What is typed at the monitor in one go, and the verdict on what it did.

Most lines are commands that do not exist: the monitor names each, so that its answers show which lines it got, whole
and in which order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Optional

from tests.qemu import ktap

_LINES = 400
_UNKNOWN = re.compile(r'^unknown command "(.*)"')
_CPUS = re.compile(r"^\d+ of \d+ CPUs online$")
_CPUS_EVERY = 100

# What is typed, and the command that it is.
_EDITED: tuple[tuple[str, Optional[str]], ...] = (
    ("backspacf\be", "backspace"),
    ("dell\x7fete", "delete"),
    ("\b\b\x7fnothing-to-erase", "nothing-to-erase"),
    ("this goes\x15killed", "killed"),
    ("this goes, too\x03after-cancel", "after-cancel"),
    ("con\x01tr\x1b[Aol\0-\ttab", "control-tab"),
    ("caf\u00e9-ascii", "caf-ascii"),
    ("", None),
    ("   ", None),
    ("  blanks-around  ", "blanks-around"),
    ("arguments are not part of it", "arguments"),
    ("over-long " + "x" * 300, "over-long"),
    ("\x03", None),
    ("ptdump 1000", None),
    ("ptdump x", None),
    ("panic no-such-way", None),
    ("selftest no-such", None),
)
_ENDS = ("\r", "\n", "\r\n")


def _commands() -> list[tuple[str, Optional[str]]]:
    numbered: list[tuple[str, Optional[str]]] = []
    for number in range(_LINES):
        if number % _CPUS_EVERY == 0:
            numbered.append(("cpus", None))
        numbered.append((f"line-{number}", f"line-{number}"))
    return [*numbered[:_LINES // 2], *_EDITED, *numbered[_LINES // 2:]]


def _typed() -> str:
    lines = ["", *(text for text, _ in _commands()), "poweroff"]
    return "".join(line + _ENDS[number % len(_ENDS)] for number, line in enumerate(lines))


# All of it, with every kind of line end. The first line is empty: of what is typed before the machine is reset, QEMU
# takes a character and then forgets it.
TYPED = _typed()


def problems_of(lines: Sequence[str], status: Optional[int]) -> list[str]:
    """Why the console is not that of a monitor that ran each line once, in order, and powered off."""
    expected = [name for _, name in _commands() if name is not None]
    found = [match[1] for line in lines if (match := _UNKNOWN.match(line))]
    problems = []
    if found != expected:
        at = next((at for at, pair in enumerate(zip(expected, found)) if pair[0] != pair[1]),
                  min(len(expected), len(found)))
        wanted, got = (f"`{names[at]}`" if at < len(names) else "nothing" for names in (expected, found))
        problems.append(f"command {at + 1} of {len(expected)} should be {wanted}, and is {got}")
    counted = sum(bool(_CPUS.match(line)) for line in lines)
    if counted != _LINES // _CPUS_EVERY:
        problems.append(f"`cpus` ran {counted} times, not {_LINES // _CPUS_EVERY}")
    return problems + ktap.ending_problems(lines, status)
