"""An AArch64 ELF64 file: sections, symbols, loaded bytes, and where control goes after an instruction."""

from __future__ import annotations

import bisect
import struct
from pathlib import Path

INSTRUCTION_BYTES = 4
SHF_ALLOC = 2
SHT_PROGBITS = 1
STT_FUNC = 2


class ElfError(Exception):
    """The file is not what it should be."""


class Elf:
    """A little-endian ELF64 file with a symbol table."""

    def __init__(self, path: Path):
        self.data = path.read_bytes()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ElfError("not a little-endian ELF64 file")
        (offset,) = struct.unpack_from("<Q", self.data, 40)
        entry_size, count, names = struct.unpack_from("<HHH", self.data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * entry_size) for i in range(count)]
        self.sections = {self._string(headers[names][4], h[0]): h for h in headers}
        self._loaded = sorted((h[3], h[5], h[4]) for h in headers if h[2] & SHF_ALLOC and h[1] == SHT_PROGBITS and h[5])
        self.symbols: dict[str, int] = {}
        functions = []
        symtab = self.sections.get(".symtab")
        if symtab is None:
            raise ElfError("no symbol table")
        for at in range(symtab[4], symtab[4] + symtab[5], 24):
            name, info, _, _, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
            text = self._string(headers[symtab[6]][4], name)
            self.symbols[text] = value
            if info & 15 == STT_FUNC:
                functions.append((value, value + size, text))
        self.functions = sorted(functions)
        self._starts = [f[0] for f in self.functions]

    def _string(self, table: int, offset: int) -> str:
        start = table + offset
        return self.data[start:self.data.index(b"\0", start)].decode()

    def section(self, name: str) -> bytes:
        header = self.sections.get(name)
        return b"" if header is None else self.data[header[4]:header[4] + header[5]]

    def section_range(self, name: str) -> range:
        """The addresses of a section, none where there is no such section."""
        header = self.sections.get(name)
        return range(0) if header is None else range(header[3], header[3] + header[5])

    def bytes_at(self, address: int, size: int) -> bytes:
        for start, length, offset in self._loaded:
            if start <= address and address + size <= start + length:
                return self.data[offset + address - start:offset + address - start + size]
        raise ElfError(f"nothing is loaded at {address:#x}")

    def instruction(self, address: int) -> int:
        return int.from_bytes(self.bytes_at(address, INSTRUCTION_BYTES), "little")

    def function_at(self, address: int) -> str:
        """The name of the function, without the suffix of a part that was split off."""
        i = bisect.bisect_right(self._starts, address) - 1
        if i < 0 or address >= max(self.functions[i][1], self.functions[i][0] + 1):
            return f"{address:#x}"
        return self.functions[i][2].partition(".cold")[0]


def successors(word: int, address: int) -> list[int]:
    """Where control may go after the instruction (Arm ARM C4.1.66); a call comes back."""
    def target(shift: int, bits: int) -> int:
        value = word >> shift & (1 << bits) - 1
        return address + 4 * (value - (1 << bits) if value >> (bits - 1) else value)
    after = address + INSTRUCTION_BYTES
    if word >> 26 == 0b000101:  # B
        return [target(0, 26)]
    if word & 0xff000000 == 0x54000000 or word & 0x7e000000 == 0x34000000:  # B.cond, CBZ, CBNZ
        return [after, target(5, 19)]
    if word & 0x7e000000 == 0x36000000:  # TBZ, TBNZ
        return [after, target(5, 14)]
    if word & 0xfe000000 == 0xd6000000 and word >> 21 & 0xf != 1:  # BR, RET, ERET; BLR comes back
        return []
    return [after]


def is_return(word: int) -> bool:
    return word & 0xfffffc1f == 0xd65f0000
