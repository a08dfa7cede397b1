"""Symbols at physical addresses, for as long as a CPU runs with its MMU off.

The kernel may be loaded at any 2 MiB boundary, so its place is found by its first bytes: those of this very file.
"""

from __future__ import annotations

from typing import Optional

import gdb

from tools.gdb.kernel import Image, image
from tools.gdb.machine import read_cpu, read_physical

_BOUNDARY = 2 << 20
# Around the PC: a loader's stub runs a little below the image, U-Boot at the other end of a few GiB of RAM.
_BELOW, _ABOVE = 1 << 30, 4 << 30
_HEADER_BYTES = 64

_loaded_at: Optional[int] = None


def _start(kernel: Image) -> int:
    return kernel.elf.symbols["_start"]


def _find(kernel: Image, pc: int) -> Optional[int]:
    """Nearest to the PC first."""
    header = kernel.elf.bytes_at(_start(kernel), _HEADER_BYTES)
    here = pc // _BOUNDARY * _BOUNDARY
    places = [*range(here, max(here - _BELOW, 0) - 1, -_BOUNDARY), *range(here + _BOUNDARY, here + _ABOVE, _BOUNDARY)]
    for place in places:
        try:
            if read_physical(place, _HEADER_BYTES) == header:
                return place
        except gdb.GdbError:
            continue
    return None


def load(place: int) -> None:
    global _loaded_at
    if _loaded_at == place:
        return
    unload()
    kernel = image()
    offset = place - _start(kernel) & (1 << 64) - 1
    gdb.execute(f"add-symbol-file {kernel.path} -o {offset:#x}", to_string=True)
    _loaded_at = place


def unload() -> None:
    global _loaded_at
    if _loaded_at is not None:
        gdb.execute(f"remove-symbol-file -a {_loaded_at:#x}", to_string=True)
        _loaded_at = None


def load_or_say_why_not(address: Optional[int] = None) -> str:
    """Where the symbols are now, for the user."""
    place = address if address is not None else _find(image(), read_cpu(gdb.selected_thread()).pc)
    if place is None:
        raise gdb.GdbError("the image is not in memory: has the loader put it there yet, and is it of this build? "
                           "`atoll-symbols ADDRESS` if you know where it lies")
    load(place)
    return f"symbols at physical {place:#x}"


def follow(_event: gdb.StopEvent) -> None:
    """At every stop: physical symbols while the selected thread's MMU is off, none after."""
    try:
        if read_cpu(gdb.selected_thread()).mmu:
            unload()
        elif _loaded_at is None:
            gdb.write(load_or_say_why_not() + "\n")
    except (gdb.error, gdb.GdbError):
        pass  # no kernel yet, or not our machine: the commands say so when they are asked
