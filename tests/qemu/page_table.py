"""Walks AArch64 translation tables (Arm ARM D8.2, D8.3) in a guest's physical memory, from outside.

Written apart from the kernel's own walker, so that the two check each other.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

_PAGE_LEVEL = 3
_ADDRESS = (1 << 48) - 1 & ~0xfff
_TG1_PAGE_SHIFT = {1: 14, 2: 12, 3: 16}


@dataclass(frozen=True)
class Geometry:
    """The shape of the tables below TTBR1."""

    page_shift: int
    va_bits: int

    @staticmethod
    def from_tcr(tcr: int) -> "Geometry":
        """From TCR_EL1.{TG1, T1SZ}."""
        return Geometry(_TG1_PAGE_SHIFT[tcr >> 30 & 3], 64 - (tcr >> 16 & 63))

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


class Walker:
    """`read(address, size)` gives physical memory, which must not change meanwhile: every table is read once."""

    def __init__(self, geometry: Geometry, read: Callable[[int, int], bytes]) -> None:
        self.geometry = geometry
        self._read = read
        self._tables: dict[tuple[int, int], tuple[int, ...]] = {}

    def table(self, address: int, level: int) -> tuple[int, ...]:
        """All descriptors of the table at `address`."""
        key = (address, level)
        if key not in self._tables:
            count = self.geometry.entries(level)
            self._tables[key] = struct.unpack(f"<{count}Q", self._read(address, 8 * count))
        return self._tables[key]

    def translate(self, root: int, address: int) -> Optional[int]:
        """The physical address that `address` has below the root at `root`, None where it is unmapped."""
        geometry, table = self.geometry, root
        for level in range(geometry.root_level, _PAGE_LEVEL + 1):
            descriptor = self.table(table, level)[geometry.index(address, level)]
            kind = descriptor & 3
            if not kind & 1 or (level == _PAGE_LEVEL and kind != 3):
                return None
            if level == _PAGE_LEVEL or kind == 1:
                offset = address & (1 << geometry.shift(level)) - 1
                return (descriptor & _ADDRESS) >> geometry.shift(level) << geometry.shift(level) | offset
            # The mask keeps the bits of an address that a table has to be aligned to.
            table = descriptor & _ADDRESS >> geometry.page_shift << geometry.page_shift
        return None
