"""The verdict on memory that is not the kernel's: bytes that must be as they were, places that must not be mapped."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence

from tests.qemu.machine import RAM_START

DUMP_END = r"^\d+ ranges, \d+K mapped"
_INITRD = re.compile(r"^  reserved (?P<start>0x[0-9a-f]+) (?P<kib>\d+) KiB: initrd")
INITRD_SEED = 0
_TITLE = re.compile(r"^---\[ (.*) \]---$")
_RANGE = re.compile(r"^(?P<first>0x[0-9a-f]{16})-(?P<last>0x[0-9a-f]{16}) ")
_LINEAR_ALIGN = 1 << 30


def pattern(seed: int, size: int) -> bytes:
    """Bytes that nobody else writes: the same each time, and others for another place."""
    return random.Random(seed).randbytes(size)


def byte_problems(places: Iterable[range], read_physical: Callable[[int, int], bytes]) -> list[str]:
    """Which of `places` no longer hold their pattern."""
    problems = []
    for place in places:
        expected, found = pattern(place.start, len(place)), read_physical(place.start, len(place))
        if found != expected:
            at = next(at for at, (old, new) in enumerate(zip(expected, found)) if old != new)
            problems.append(f"the byte at {place.start + at:#x} was overwritten, in {_text(place)}")
    return problems


def initrd_problems(lines: Sequence[str], size: int, read_physical: Callable[[int, int], bytes]) -> list[str]:
    """Whether the pattern that was the initrd is still in the pages that the monitor's `mem` says are the initrd's."""
    places = [match for line in lines if (match := _INITRD.match(line))]
    if len(places) != 1:
        return [f"`mem` shows {len(places)} reservations for an initrd"]
    held = read_physical(int(places[0]["start"], 16), int(places[0]["kib"]) << 10)
    return [] if pattern(INITRD_SEED, size) in held else ["the initrd is not whole"]


def linear_map(lines: Sequence[str]) -> list[range]:
    """The physical ranges that a `ptdump` shows in the linear map, of a machine whose lowest RAM is QEMU's."""
    title, ranges = "", []
    for line in lines:
        if match := _TITLE.match(line):
            title = match[1]
        elif (match := _RANGE.match(line)) and title == "linear map":
            ranges.append(range(int(match["first"], 16), int(match["last"], 16) + 1))
    # It begins at the lowest RAM, rounded down.
    offset = ranges[0].start // _LINEAR_ALIGN * _LINEAR_ALIGN - RAM_START if ranges else 0
    return [range(part.start - offset, part.stop - offset) for part in ranges]


def map_problems(lines: Sequence[str], unmapped: Iterable[range]) -> list[str]:
    """Which of `unmapped` are mapped, in whole or in part."""
    mapped = linear_map(lines)
    if not mapped:
        return ["no ptdump shows a linear map"]
    return [f"{_text(part)} is mapped, within {_text(there)}"
            for part in unmapped for there in mapped if there.start < part.stop and part.start < there.stop]


def _text(place: range) -> str:
    return f"{place.start:#x}-{place.stop - 1:#x}"
