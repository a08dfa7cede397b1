"""Checks private roots from outside the guest: registers over gdb, page tables over physical memory.

The kernel has a selftest with the same aim. This one trusts nothing of the kernel but its symbol table:
it stops the machine, reads every CPU's TTBR1, walks the tables itself and looks at the frames.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.qemu.build import PAGE_BYTES, Build
from tests.qemu.gdbstub import GdbStub
from tools.page_table import Geometry, Walker
from tests.qemu.qemu import Qemu

CPU_NUMBER = "percpu::cpu_number"

_TTBR_ADDRESS = (1 << 48) - 1 & ~1
_U64 = (1 << 64) - 1


@dataclass(frozen=True)
class Cpu:
    """What one CPU's registers say. `offset` is TPIDR_EL1: from the local to the global window."""

    root: int
    root_register: int
    translation: int
    offset: int


@dataclass(frozen=True)
class Symbol:
    address: int
    size: int


def find_symbol(elf: Path, name: str) -> Symbol:
    """A symbol with its size, by its demangled name without the project's namespace. Raises `OSError` where
    there is none."""
    output = subprocess.run(["nm", "--demangle", "--print-size", str(elf)], check=True, timeout=60,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout
    match = re.search(rf"^([0-9a-f]+) ([0-9a-f]+) \w \w+::{re.escape(name)}$", output, re.MULTILINE)
    if match is None:
        raise OSError(f"{elf} has no symbol {name}")
    return Symbol(int(match[1], 16), int(match[2], 16))


def read_cpus(gdb: GdbStub, count: int) -> list[Cpu]:
    cpus = []
    for number in range(count):
        register = gdb.read_register(number, "TTBR1_EL1")
        cpus.append(Cpu(register & _TTBR_ADDRESS, register, gdb.read_register(number, "TCR_EL1"),
                        gdb.read_register(number, "TPIDR_EL1")))
    return cpus


def compare_roots(qemu: Qemu, build: Build, count: int) -> list[str]:
    """Stops the guest for good and gives what is wrong with its `count` CPUs' tables."""
    qemu.qmp.execute("stop")
    gdb = GdbStub(qemu.gdb_socket)
    cpus = read_cpus(gdb, count)
    geometry = Geometry.from_tcr(cpus[0].translation)
    if geometry != Geometry(PAGE_BYTES[build.page].bit_length() - 1, build.va_bits):
        return [f"TCR_EL1 is {cpus[0].translation:#x}: {geometry}, not what {build.name} says"]
    walker = Walker(geometry, qemu.qmp.read_physical)
    number = find_symbol(build.elf, CPU_NUMBER)
    problems = register_problems(cpus)
    problems += slot_problems(walker, cpus, geometry.index(number.address, geometry.root_level))
    return problems + window_problems(walker, cpus, number, qemu.qmp.read_physical)


def register_problems(cpus: list[Cpu]) -> list[str]:
    problems = [f"CPU {number}: TCR_EL1 differs from CPU 0's"
                for number, cpu in enumerate(cpus) if cpu.translation != cpus[0].translation]
    problems += [f"CPU {number}: TTBR1_EL1 is {cpu.root_register:#x}: CnP or an ASID is set"
                 for number, cpu in enumerate(cpus) if cpu.root_register != cpu.root]
    if len({cpu.root for cpu in cpus}) != len(cpus):
        problems.append("two CPUs share a root")
    return problems


def slot_problems(walker: Walker, cpus: list[Cpu], window: int) -> list[str]:
    """Every root slot but `window` must hold the same on all CPUs; `window` must differ everywhere."""
    level = walker.geometry.root_level
    roots = [walker.table(cpu.root, level) for cpu in cpus]
    problems = []
    for number, root in enumerate(roots):
        different = [slot for slot, entry in enumerate(root) if entry != roots[0][slot] and slot != window]
        if different:
            problems.append(f"CPU {number}: root slots {different[:8]} differ from CPU 0's")
    if not any(entry & 1 for slot, entry in enumerate(roots[0]) if slot != window):
        problems.append("CPU 0's root has nothing but the window")
    if len({root[window] for root in roots}) != len(roots):
        problems.append(f"two CPUs share what window slot {window} links")
    return problems


def window_problems(walker: Walker, cpus: list[Cpu], number: Symbol,
                    read_physical: Callable[[int, int], bytes]) -> list[str]:
    """The window must lead every CPU to a frame of its own, which holds the CPU's number and is seen at the
    CPU's global alias from everywhere."""
    problems = []
    places: dict[int, int] = {}
    for cpu_number, cpu in enumerate(cpus):
        place = walker.translate(cpu.root, number.address)
        if place is None:
            problems.append(f"CPU {cpu_number}: the local window is not mapped")
            continue
        if place in places:
            problems.append(f"CPUs {places[place]} and {cpu_number} have one frame in the window")
        places[place] = cpu_number
        held = int.from_bytes(read_physical(place, number.size), "little")
        if held != cpu_number:
            problems.append(f"CPU {cpu_number}: the window holds CPU number {held}")
        alias = walker.translate(cpus[0].root, number.address + cpu.offset & _U64)
        if alias != place:
            problems.append(f"CPU {cpu_number}: the global alias is another frame than the local one")
    return problems
