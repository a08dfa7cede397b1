"""Published figures: build/report/metrics.json, one flat record a figure.

A record is `{"metric", "value", "unit", "command", "at", ...keys}`. Its identity is its metric and its
keys: a new record replaces the old one of the same identity and leaves all others. Tables and plots
are made from this file only.
"""

from __future__ import annotations

import datetime
import fcntl
import json
import math
import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Optional

PATH = Path(__file__).resolve().parents[1] / "build/report/metrics.json"

Record = dict[str, Any]

# Fields that describe a figure without telling it from others.
_NOT_KEYS = frozenset({"value", "unit", "command", "at", "spread"})


def record(metric: str, value: float, unit: str, *, spread: Optional[float] = None, **keys: str | int) -> Record:
    """A record stamped with the time and the running command. `spread` stands beside medians.

    Raises `ValueError` for a value that JSON or a plot could not hold.
    """
    if not math.isfinite(value):
        raise ValueError(f"{metric} is {value}")
    if not metric or _NOT_KEYS & keys.keys() or "metric" in keys:
        raise ValueError(f"bad metric or keys: {metric!r}, {sorted(keys)}")
    made: Record = {"metric": metric, "value": value, "unit": unit, "command": command(),
                    "at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), **keys}
    if spread is not None:
        made["spread"] = spread
    return made


def command() -> str:
    """The command that makes the figures: $ATOLL_COMMAND where a make target sets it, else this program."""
    return os.environ.get("ATOLL_COMMAND") or shlex.join(["python3", *sys.orig_argv[1:]])


def identity(item: Record) -> tuple[tuple[str, str], ...]:
    """What two records must share for one to replace the other."""
    return tuple(sorted((key, str(value)) for key, value in item.items() if key not in _NOT_KEYS))


def load(path: Path = PATH) -> list[Record]:
    """All records, none where the file does not exist yet."""
    try:
        records = json.loads(path.read_text())
    except FileNotFoundError:
        return []
    if not isinstance(records, list) or not all(isinstance(item, dict) for item in records):
        raise ValueError(f"{path} is not a list of records")
    return records


def update(records: Iterable[Record], path: Path = PATH) -> None:
    """Merges `records` into the file, atomically and under a lock against other writers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        merged = {identity(item): item for item in load(path)}
        merged.update((identity(item), item) for item in records)
        lines = ",\n".join(json.dumps(merged[key]) for key in sorted(merged))
        partial = path.with_suffix(".partial")
        partial.write_text(f"[\n{lines}\n]\n")
        os.replace(partial, path)


def select(records: Iterable[Record], metric: str, **keys: str | int) -> list[Record]:
    """The records of `metric` whose keys have these values; further keys may be anything."""
    return [item for item in records
            if item["metric"] == metric and all(item.get(key) == value for key, value in keys.items())]
