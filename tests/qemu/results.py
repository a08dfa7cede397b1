"""Results of a suite as JSON, in the shape of a JUnit report: build/report/results/<suite>.json."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.qemu.build import BUILD

DIRECTORY = BUILD / "report/results"


@dataclass(frozen=True)
class Case:
    """One case: a boot, or a planted fault. It passed if it has no problems."""

    name: str
    seconds: float
    problems: list[str] = field(default_factory=list)
    log: str = ""
    properties: dict[str, int | str] = field(default_factory=dict)


def write(suite: str, cases: list[Case], seconds: float, **further: int) -> Path:
    """Replaces the suite's file atomically and gives its path. `further` are counts under names of their own."""
    failed = sum(bool(case.problems) for case in cases)
    document = {"suite": suite, "passed": len(cases) - failed, "failed": failed, "seconds": round(seconds, 1),
                **further, "cases": [asdict(case) for case in cases]}
    path = DIRECTORY / f"{suite}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(document, indent=1) + "\n")
    os.replace(partial, path)
    return path
