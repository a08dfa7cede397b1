"""Walks AArch64 translation tables (Arm ARM D8.2, D8.3) in a guest's physical memory, from outside.

Written apart from the kernel's own walker, so that the two check each other: the harness compares roots with it
(tests/qemu/outside.py), the debugger shows them (tools/gdb).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Optional

_PAGE_LEVEL = 3
_ADDRESS = (1 << 48) - 1 & ~0xfff
_TG0_PAGE_SHIFT = {0: 12, 1: 16, 2: 14}
_TG1_PAGE_SHIFT = {1: 14, 2: 12, 3: 16}
# TCR_EL1: translation through this half is off; 52-bit descriptors at 4K and 16K.
_EPD0, _EPD1, _DS = 1 << 7, 1 << 23, 1 << 59


class UnknownFormat(Exception):
    """TCR_EL1 describes tables that this walker cannot read, or none at all."""


@dataclass(frozen=True)
class Geometry:
    """The shape of the tables of one half of the address space."""

    page_shift: int
    va_bits: int

    @staticmethod
    def from_tcr(tcr: int, upper: bool = True) -> "Geometry":
        """From TCR_EL1's fields for TTBR1, or for TTBR0."""
        if tcr & _DS:
            raise UnknownFormat("TCR_EL1.DS is set: 52-bit descriptors are not known here")
        if tcr & (_EPD1 if upper else _EPD0):
            raise UnknownFormat(f"TCR_EL1.EPD{int(upper)} is set: there is no walk through TTBR{int(upper)}_EL1")
        granules = _TG1_PAGE_SHIFT if upper else _TG0_PAGE_SHIFT
        granule = tcr >> (30 if upper else 14) & 3
        if granule not in granules:
            raise UnknownFormat(f"TCR_EL1.TG{int(upper)} is {granule}, which is no granule")
        return Geometry(granules[granule], 64 - (tcr >> (16 if upper else 0) & 63))

    @property
    def _bits_per_level(self) -> int:
        return self.page_shift - 3

    @property
    def root_level(self) -> int:
        return _PAGE_LEVEL + 1 - -(-(self.va_bits - self.page_shift) // self._bits_per_level)

    def shift(self, level: int) -> int:
        """An entry at `level` covers 2^shift bytes."""
        return self.page_shift + (_PAGE_LEVEL - level) * self._bits_per_level

    def entries(self, level: int) -> int:
        return 1 << (self.va_bits - self.shift(level) if level == self.root_level else self._bits_per_level)

    def index(self, address: int, level: int) -> int:
        return address >> self.shift(level) & self.entries(level) - 1


@dataclass(frozen=True)
class Descriptor:
    """One entry of a table at `level`."""

    raw: int
    level: int

    @property
    def is_table(self) -> bool:
        return self.raw & 3 == 3 and self.level != _PAGE_LEVEL

    @property
    def is_leaf(self) -> bool:
        """A block, or a page at the last level; the other kind of each is reserved and faults."""
        return self.raw & 3 == (3 if self.level == _PAGE_LEVEL else 1)

    def address(self, shift: int) -> int:
        """The next table or the output, aligned to 2^shift bytes."""
        return (self.raw & _ADDRESS) >> shift << shift

    # Fields of a leaf.
    @property
    def memory_index(self) -> int:
        """Which byte of MAIR_EL1 says what memory this is."""
        return self.raw >> 2 & 7

    @property
    def is_writable(self) -> bool:
        return not self.raw & 1 << 7

    @property
    def is_user(self) -> bool:
        return bool(self.raw & 1 << 6)

    @property
    def is_executable(self) -> bool:
        """At EL1."""
        return not self.raw & 1 << 53

    @property
    def is_contiguous(self) -> bool:
        return bool(self.raw & 1 << 52)

    @property
    def is_global(self) -> bool:
        return not self.raw & 1 << 11

    @property
    def is_accessed(self) -> bool:
        return bool(self.raw & 1 << 10)

    @property
    def shareability(self) -> int:
        return self.raw >> 8 & 3

    # What a table says about all that lies below it.
    @property
    def table_limits(self) -> int:
        """NSTable, APTable, UXNTable and PXNTable, bits 63 to 59."""
        return self.raw >> 59


@dataclass(frozen=True)
class Step:
    """One level of a walk: which entry of which table."""

    table: int
    index: int
    descriptor: Descriptor


@dataclass(frozen=True)
class Leaf:
    """`size` bytes from `address` on. `read_only` and `never_executed` are what tables above say."""

    address: int
    size: int
    descriptor: Descriptor
    read_only: bool = False
    never_executed: bool = False

    @property
    def is_writable(self) -> bool:
        return self.descriptor.is_writable and not self.read_only

    @property
    def is_executable(self) -> bool:
        return self.descriptor.is_executable and not self.never_executed


class Walker:
    """`read(address, size)` gives physical memory, which must not change meanwhile: every table is read once.

    With `whole_tables` off a walk reads single entries: for a slow `read` and few walks.
    """

    def __init__(self, geometry: Geometry, read: Callable[[int, int], bytes], *, whole_tables: bool = True) -> None:
        self.geometry = geometry
        self._read = read
        self._whole_tables = whole_tables
        self._tables: dict[tuple[int, int], tuple[int, ...]] = {}

    def table(self, address: int, level: int) -> tuple[int, ...]:
        """All descriptors of the table at `address`."""
        key = (address, level)
        if key not in self._tables:
            count = self.geometry.entries(level)
            self._tables[key] = struct.unpack(f"<{count}Q", self._read(address, 8 * count))
        return self._tables[key]

    def steps(self, root: int, address: int) -> list[Step]:
        """The way of a walk from the root at `root`; its last entry is a leaf, or what the walk faults at."""
        geometry, table, way = self.geometry, root, []
        for level in range(geometry.root_level, _PAGE_LEVEL + 1):
            index = geometry.index(address, level)
            descriptor = Descriptor(self._entry(table, level, index), level)
            way.append(Step(table, index, descriptor))
            if not descriptor.is_table:
                break
            table = descriptor.address(geometry.page_shift)
        return way

    def translate(self, root: int, address: int) -> Optional[int]:
        """The physical address that `address` has below the root at `root`, None where it is unmapped."""
        last = self.steps(root, address)[-1].descriptor
        if not last.is_leaf:
            return None
        shift = self.geometry.shift(last.level)
        return last.address(shift) | address & (1 << shift) - 1

    def leaves(self, root: int, first: int) -> Iterator[Leaf]:
        """All that is mapped below the root at `root`, ascending; `first` is the lowest address it maps."""
        yield from self._leaves(root, self.geometry.root_level, first, 0)

    def _leaves(self, table: int, level: int, first: int, limits: int) -> Iterator[Leaf]:
        size = 1 << self.geometry.shift(level)
        for index, raw in enumerate(self.table(table, level)):
            descriptor = Descriptor(raw, level)
            address = first + index * size
            if descriptor.is_leaf:
                # APTable[1] takes write permission away, PXNTable EL1's execution.
                yield Leaf(address, size, descriptor, bool(limits >> 3 & 1), bool(limits & 1))
            elif descriptor.is_table:
                yield from self._leaves(descriptor.address(self.geometry.page_shift), level + 1, address,
                                        limits | descriptor.table_limits)

    def _entry(self, table: int, level: int, index: int) -> int:
        if self._whole_tables:
            return self.table(table, level)[index]
        return int.from_bytes(self._read(table + 8 * index, 8), "little")
