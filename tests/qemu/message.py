"""The verdict on a boot that must not succeed: the kernel says why, and stops or panics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Optional

from tests.qemu import ktap, panic_report

PROMPT = "atoll> "
STOP = re.compile(r"^atoll: .*; stopped$")
# With one of these it is known which way the boot goes: stopped, panicked, or on to the commands of `run=`.
DECIDED = f"{STOP.pattern}|^{re.escape(panic_report.END)}$|^KTAP|^{ktap.PASS_MARKER}|^{ktap.FAIL_MARKER}"
# How long a kernel that has stopped has to keep quiet.
QUIET_SECONDS = 1.0


def missing(lines: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Which of the regular expressions no line matches."""
    return [f"no line matches `{pattern}`" for pattern in wanted if not any(re.search(pattern, line) for line in lines)]


def problems_of(lines: Sequence[str], status: Optional[int], wanted: Sequence[str]) -> list[str]:
    """Why this console is not a refusal with the wanted lines; `status` is None for a QEMU that had to be ended."""
    texts = [text for text in lines if text.strip()]
    problems = missing(texts, wanted)
    problems += [f"went on: {text}" for text in texts
                 if text.startswith((PROMPT, ktap.PASS_MARKER, ktap.FAIL_MARKER, "KTAP"))][:1]
    if status is None:
        if not texts or not STOP.match(texts[-1]):
            problems.append(f"neither stopped nor ended; the last line: {texts[-1] if texts else 'nothing'}")
    elif status != panic_report.STATUS:
        problems.append(f"QEMU exited with status {status}, not {panic_report.STATUS}")
    elif texts[-1] != panic_report.END:
        problems.append(f"the last line is not `{panic_report.END}`: {texts[-1]}")
    return problems
