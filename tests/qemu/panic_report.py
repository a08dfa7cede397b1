"""The verdict on a panic's report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Optional

from tests.qemu import ktap
from tests.qemu.spec import Panic

STATUS = 2
END = "panic: end of report"
_NESTED = "panic: fault inside the report: "
_PLACE = re.compile(r"panic: CPU (?P<cpu>\d+) (at \S+:\d+|in an exception); "
                    r"stopped (?P<stopped>\d+) of (?P<others>\d+) other CPUs$")


def problems_of(lines: Sequence[str], status: Optional[int], expected: Panic, cpus: int) -> list[str]:
    """Why this console and exit status are not just the expected report, from a machine of `cpus` CPUs."""
    texts = [text for text in lines if text.strip()]
    problems = [] if status == STATUS else [f"QEMU exited with status {status}, not {STATUS}"]
    if ktap.PASS_MARKER in texts:
        problems.append("a panic was reported as a pass")
    if texts.count(END) != 1 or texts[-1] != END:
        problems.append(f"the last line is not the only `{END}`")
    headings = [i for i, text in enumerate(texts) if text.startswith("panic: ")]
    if len(headings) < 2:
        return [*problems, "no panic report"]
    report = texts[headings[0]:]
    if not re.fullmatch(expected.message, report[0].removeprefix("panic: ")):
        problems.append(f"`{report[0]}` is not `panic: {expected.message}`")
    if expected.nested:
        nested = texts[headings[1]]
        if not re.fullmatch(re.escape(_NESTED) + expected.nested, nested):
            problems.append(f"`{nested}` is not `{_NESTED}{expected.nested}`")
        if len(report) != 3:
            problems.append(f"{len(report)} lines in the report, not two messages and its end")
        return problems
    if not (where := _PLACE.match(texts[headings[1]])):
        problems.append(f"`{texts[headings[1]]}` does not say which CPU, where, and how many it stopped")
    else:
        stopped = cpus - 1 if expected.stops else 0
        who = "it" if expected.cpu is None else f"CPU {expected.cpu}"
        if (expected.cpu is not None and int(where["cpu"]) != expected.cpu) \
                or (int(where["stopped"]), int(where["others"])) != (stopped, cpus - 1):
            problems.append(f"`{where[0]}`: {who} should have stopped {stopped} of {cpus - 1}")
    if more := [texts[i] for i in headings[2:] if texts[i] != END]:
        problems.append(f"more than one report: {more[0]}")
    if not any(re.match(rf"  0x[0-9a-f]{{16}} {expected.function}\+0x", text) for text in report):
        problems.append(f"no {expected.function} in the backtrace")
    problems += [f"nothing in the report matches `{detail}`" for detail in expected.details
                 if not re.search(detail, "\n".join(report))]
    return problems
