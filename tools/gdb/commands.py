"""The commands. Each prints to gdb's console, leaves the selected thread alone, and says what to do when it cannot."""

from __future__ import annotations

import struct
from typing import Optional

import gdb

from tools.gdb import describe, physical_symbols
from tools.gdb.kernel import (KernelCpu, address_of, cpu_by_number, image, kernel_cpus, place_of, read_as_seen_by,
                              states_and_mpidrs)
from tools.ksymbols import short_name
from tools.gdb.machine import Cpu, is_upper, register, selected

_U64 = (1 << 64) - 1
# More than a stack of 64 KiB can hold of the smallest frames, and an end where records run in a circle.
_MOST_RECORDS = 5000


class _Command(gdb.Command):
    """`usage` is what the docstring's first line says after the name."""

    name = ""
    arguments = ""
    at_least = at_most = 0

    def __init__(self) -> None:
        super().__init__(self.name, gdb.COMMAND_DATA, gdb.COMPLETE_SYMBOL)

    def invoke(self, text: str, _from_tty: bool) -> None:
        # The last argument may be an expression with spaces.
        words = text.split(None, self.at_most - 1) if self.at_most else text.split()
        if not self.at_least <= len(words) <= self.at_most:
            raise gdb.GdbError(f"usage: {self.name} {self.arguments}".rstrip())
        self.run(*words)

    def run(self, *words: str) -> None:
        raise NotImplementedError


class Cpus(_Command):
    """atoll-cpus: all CPUs: the kernel's number, MPIDR, gdb's thread, state, where it is.

The state is what the kernel's roll call says. A CPU that does not run on one of the kernel's roots has no number;
its thread is there all the same."""

    name = "atoll-cpus"

    def run(self) -> None:
        cpus = kernel_cpus()
        known = self._known(cpus)
        seen = set()
        for each in sorted(cpus, key=lambda one: (one.number is None, one.number or 0)):
            seen.add(each.number)
            state, mpidr = known.get(each.number, ("booting" if each.cpu.mmu else "MMU off", None))
            self._line(each, state, mpidr)
        for number in sorted(set(known) - seen):
            state, mpidr = known[number]
            gdb.write(f"  cpu {number:3} mpidr {mpidr:#10x}  thread   -  {state}\n")
        if not known:
            gdb.write("the kernel has not numbered its CPUs yet: commands take QEMU's numbers, thread - 1\n")

    @staticmethod
    def _known(cpus: list[KernelCpu]) -> dict[Optional[int], tuple[str, Optional[int]]]:
        for each in cpus:
            if each.number is not None:
                return dict(states_and_mpidrs(each.cpu))
        return {}

    @staticmethod
    def _line(each: KernelCpu, state: str, mpidr: Optional[int]) -> None:
        number = "  -" if each.number is None else f"{each.number:3}"
        identity = "         -" if mpidr is None else f"{mpidr:#10x}"
        gdb.write(f"  cpu {number} mpidr {identity}  thread {each.cpu.thread.num:3}  {state:12}  "
                  f"pc {each.cpu.pc:#018x} {place_of(each.cpu.pc)}\n")


class Backtrace(_Command):
    """atoll-bt CPU: the backtrace of any CPU, through exceptions and onto the emergency stack.

gdb's own, for as far as that goes; from there on by frame records. gdb alone ends where a function that never
returns has kept no way back, and where one stack goes on to another."""

    name, arguments, at_least, at_most = "atoll-bt", "CPU", 1, 1

    def run(self, cpu_text: str) -> None:
        cpu = cpu_by_number(cpu_text)
        with selected(cpu.thread):
            frame = gdb.newest_frame()
            frame.select()
            lines = gdb.execute("backtrace", to_string=True).splitlines(keepends=True)
            gdb.write("".join(line for line in lines if line.startswith("#")))
            while (older := frame.older()) is not None:
                frame = older
            if frame.unwind_stop_reason() != gdb.FRAME_UNWIND_OUTERMOST:
                self._by_records(cpu, register(frame, "x29"), frame.level() + 1)

    @staticmethod
    def _by_records(cpu: Cpu, record: int, level: int) -> None:
        chunks: dict[int, bytes] = {}
        last, repeats = 0, 0
        for number in range(level, level + _MOST_RECORDS):
            record, address = _record(cpu, record, chunks)
            if address == 0:
                return
            repeats = repeats + 1 if address == last else 0
            last = address
            if repeats == 0:
                line = gdb.find_pc_line(address - 1)
                at = f" at {line.symtab.filename}:{line.line}" if line.symtab is not None else ""
                gdb.write(f"#{number:<3} {address:#018x} {place_of(address)}{at} (frame record)\n")
            elif repeats == 1:
                gdb.write("     the same again, as often as the numbers leave out\n")
        gdb.write(f"     and more: the next frame record is at {record:#x}\n")


def _record(cpu: Cpu, record: int, chunks: dict[int, bytes]) -> tuple[int, int]:
    """(next record, return address), zeros where there is none; memory comes in chunks that are no larger than any
    page."""
    chunk, at = divmod(record, 4096)
    if record % 16 or record == 0:
        return 0, 0
    try:
        if chunk not in chunks:
            chunks[chunk] = cpu.read_memory(4096 * chunk, 4096)
    except gdb.GdbError:
        return 0, 0
    return struct.unpack_from("<QQ", chunks[chunk], at)


class Walk(_Command):
    """atoll-walk CPU ADDRESS: how that CPU's tables translate an address, level by level, from physical memory.

ADDRESS is an expression: `atoll-walk 3 &'atl::percpu::cpu_number'`."""

    name, arguments, at_least, at_most = "atoll-walk", "CPU ADDRESS", 2, 2

    def run(self, cpu_text: str, address_text: str) -> None:
        cpu = cpu_by_number(cpu_text)
        address = int(gdb.parse_and_eval(address_text).cast(gdb.lookup_type("unsigned long"))) & _U64
        upper = is_upper(address)
        geometry = cpu.geometry(upper)
        if address >> geometry.va_bits != (_U64 >> geometry.va_bits if upper else 0):
            raise gdb.GdbError(f"{address:#x} lies between the two halves of {geometry.va_bits} bits: no table "
                               "translates it")
        region = f", {image().region_of(address)}" if upper else ""
        gdb.write(f"{address:#018x}{region}: TTBR{int(upper)}_EL1 {cpu.root(upper):#x}, pages of "
                  f"{describe.size(1 << geometry.page_shift)}, {geometry.va_bits} bits\n")
        walker = cpu.walker(upper)
        for step in walker.steps(cpu.root(upper), address):
            gdb.write(describe.step(geometry, step, cpu.mair) + "\n")
        physical = walker.translate(cpu.root(upper), address)
        gdb.write("  not mapped\n" if physical is None else f"  physical {physical:#x}\n")


class PageTableDump(_Command):
    """atoll-ptdump CPU: what that CPU's TTBR1 maps, alike neighbours in one line; flags writable and executable."""

    name, arguments, at_least, at_most = "atoll-ptdump", "CPU", 1, 1

    def run(self, cpu_text: str) -> None:
        cpu = cpu_by_number(cpu_text)
        first = (1 << 64) - (1 << cpu.geometry(True).va_bits)
        leaves = cpu.walker(True, whole_tables=True).leaves(cpu.root(True), first)
        for line in describe.dump(describe.merge(leaves, image().region_of), cpu.mair):
            gdb.write(line + "\n")


class PerCpuVariable(_Command):
    """atoll-percpu CPU VARIABLE: the value of a per-CPU variable on any CPU, whichever is selected.

VARIABLE may go on to a part: `idle_work.function`, `event_counts._M_elems[0]`. `all` prints every one."""

    name, arguments, at_least, at_most = "atoll-percpu", "CPU VARIABLE|all", 2, 2

    def run(self, cpu_text: str, wanted: str) -> None:
        cpu = cpu_by_number(cpu_text)
        if wanted == "all":
            for name in image().per_cpu_variables():
                self._print(cpu, name, name, "")
            return
        length = next((i for i, c in enumerate(wanted) if c in ".["), len(wanted))
        self._print(cpu, wanted, self._find(wanted[:length].strip()), wanted[length:])

    @staticmethod
    def _find(wanted: str) -> str:
        wanted = short_name(wanted.strip("'"))
        names = image().per_cpu_variables()
        found = [name for name in names if name == wanted] or [n for n in names if n.endswith("::" + wanted)]
        if len(found) == 1:
            return found[0]
        raise gdb.GdbError(f"no per-CPU variable {wanted}: there are {', '.join(names)}" if not found
                           else f"{wanted} may be {' or '.join(found)}")

    @staticmethod
    def _print(cpu: Cpu, label: str, name: str, part: str) -> None:
        variable = image().per_cpu_variables()[name]
        value = read_as_seen_by(cpu, variable)["value_"]
        if part:
            gdb.set_convenience_variable("atoll_value", value)
            value = gdb.parse_and_eval(f"$atoll_value{part}")
        gdb.write(f"{label} at {address_of(variable):#x}: ({value.type}) {value.format_string(static_members=False)}\n")


class Symbols(_Command):
    """atoll-symbols [ADDRESS]: loads the kernel's symbols at the physical address where the image lies, found if not
given. At a stop with the MMU off this happens by itself, and with the MMU on they go again."""

    name, arguments, at_most = "atoll-symbols", "[ADDRESS]", 1

    def run(self, address: str = "") -> None:
        place = int(gdb.parse_and_eval(address)) & _U64 if address else None
        gdb.write(physical_symbols.load_or_say_why_not(place) + "\n")


def register_commands() -> None:
    for command in (Cpus, Backtrace, Walk, PageTableDump, PerCpuVariable, Symbols):
        command()
