"""Translation tables in words. Knows nothing of gdb, so it is tested without."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tools.page_table import Descriptor, Geometry, Leaf, Step

_SHAREABILITY = ("not shareable", "reserved shareability", "outer shareable", "inner shareable")
_DEVICE = ("nGnRnE", "nGnRE", "nGRE", "GRE")
_TABLE_LIMITS = ((1 << 0, "never executed at EL1 below"), (1 << 1, "never executed at EL0 below"),
                 (1 << 2, "no access from EL0 below"), (1 << 3, "read-only below"), (1 << 4, "non-secure below"))


@dataclass(frozen=True)
class Range:
    """Adjacent leaves that are alike. `last` is its last byte's address."""

    first: int
    last: int
    count: int
    region: str
    leaf: Leaf


def size(count: int) -> str:
    """Whole in the largest unit that divides it."""
    units = "BKMGT"
    for unit in units:
        if count % 1024 or count == 0 or unit == units[-1]:
            return f"{count}{unit}"
        count >>= 10
    raise AssertionError


def memory(attributes: int) -> str:
    """One byte of MAIR_EL1 (Arm ARM D17.2.97)."""
    if attributes >> 4 == 0 and not attributes & 3:
        return f"device {_DEVICE[attributes >> 2]}"
    return {0xff: "normal", 0x44: "uncached"}.get(attributes, f"memory type {attributes:#04x}")


def permissions(leaf: Leaf) -> str:
    text = f"r{'w' if leaf.is_writable else '-'}{'x' if leaf.is_executable else '-'}"
    return f"{text} EL0" if leaf.descriptor.is_user else text


def _attributes(descriptor: Descriptor, mair: int) -> str:
    words = [permissions(Leaf(0, 0, descriptor)), memory(mair >> 8 * descriptor.memory_index & 0xff),
             _SHAREABILITY[descriptor.shareability]]
    words += ["contiguous"] * descriptor.is_contiguous + ["not global"] * (not descriptor.is_global)
    words += ["access flag clear"] * (not descriptor.is_accessed)
    return ", ".join(words)


def step(geometry: Geometry, at: Step, mair: int) -> str:
    """One line for a level of a walk."""
    descriptor = at.descriptor
    shift = geometry.shift(descriptor.level)
    if descriptor.is_table:
        limits = [text for bit, text in _TABLE_LIMITS if descriptor.table_limits & bit]
        what = ", ".join([f"table at {descriptor.address(geometry.page_shift):#x}", *limits])
    elif descriptor.is_leaf:
        kind = "page" if shift == geometry.page_shift else "block"
        what = f"{kind} of {size(1 << shift)} at {descriptor.address(shift):#x}: {_attributes(descriptor, mair)}"
    else:
        what = "reserved encoding: faults" if descriptor.raw & 1 else "invalid: faults"
    return f"  level {descriptor.level}  {at.table:#x}[{at.index}] = {descriptor.raw:#018x}  {what}"


def merge(leaves: Iterable[Leaf], region_of: Callable[[int], str]) -> Iterator[Range]:
    """Runs of adjacent leaves of one size and with equal attributes, within a region."""
    run = None
    for leaf in leaves:
        region = region_of(leaf.address)
        if run is not None and run.last + 1 == leaf.address and run.region == region and _alike(run.leaf, leaf):
            run = Range(run.first, leaf.address + leaf.size - 1, run.count + 1, region, run.leaf)
            continue
        if run is not None:
            yield run
        run = Range(leaf.address, leaf.address + leaf.size - 1, 1, region, leaf)
    if run is not None:
        yield run


def _alike(one: Leaf, other: Leaf) -> bool:
    return one.size == other.size and _without_address(one) == _without_address(other)


def _without_address(leaf: Leaf) -> tuple[int, str]:
    return leaf.descriptor.raw & ~((1 << 48) - (1 << 12)), permissions(leaf)


def dump(ranges: Iterable[Range], mair: int) -> Iterator[str]:
    """A line for each range, a title for each region, and the totals; what is writable and executable is flagged."""
    title, count, mapped, both = "", 0, 0, 0
    for each in ranges:
        if each.region != title:
            title = each.region
            yield f"---[ {title} ]---"
        leaf, bytes_in_all = each.leaf, each.last - each.first + 1
        bad = leaf.is_writable and leaf.is_executable
        count, mapped, both = count + 1, mapped + bytes_in_all, both + bytes_in_all * bad
        yield (f"{each.first:#018x}-{each.last:#018x} {size(bytes_in_all):>6}  {permissions(leaf)} "
               f"{memory(mair >> 8 * leaf.descriptor.memory_index & 0xff)}"
               f"{'' if leaf.descriptor.is_global else ' not global'}, {each.count} x {size(leaf.size)}"
               f"{' contiguous' if leaf.descriptor.is_contiguous else ''}{'  <-- W+X' if bad else ''}")
    yield f"{count} ranges, {size(mapped)} mapped, {size(both)} writable and executable"
