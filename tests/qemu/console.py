"""What the kernel's console lines say in numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Optional

from tests.qemu.qemu import Line

ALL_ONLINE = r"^smp: (\d+)/(\d+) CPUs online"
_STAGE = re.compile(r"^boot: (\S.*\S|\S) (\d+) us$")


def online(lines: Iterable[Line]) -> Optional[tuple[int, int, float]]:
    """CPUs online, CPUs present, and when the line came, in seconds since QEMU's start."""
    for line in lines:
        if match := re.match(ALL_ONLINE, line.text):
            return int(match[1]), int(match[2]), line.seconds
    return None


def stages(lines: Iterable[Line]) -> dict[str, float]:
    """When each boot stage ended, in milliseconds since the kernel's entry, in the order of the boot."""
    matches = (_STAGE.match(line.text) for line in lines)
    return {match[1]: int(match[2]) / 1000 for match in matches if match}
