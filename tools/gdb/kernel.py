"""What the debugger knows of the kernel: its image's symbols and types, and whose CPU is which."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import gdb

from tools.elf_file import Elf
from tools.gdb.machine import Cpu, read_cpus
from tools.ksymbols import short_name

CPU_NUMBER = "atl::percpu::cpu_number"
_ROLL_CALL = "atl::(anonymous namespace)::g_roll_call"
_CPU_MAP = "atl::(anonymous namespace)::g_map"
_PER_CPU_TYPE = "atl::percpu::PerCpu<"
_U64 = (1 << 64) - 1


def variable(name: str) -> gdb.Value:
    """By its full name; not read yet. Only its type and its address are of use: gdb itself would read through the
    selected thread's MMU."""
    return gdb.parse_and_eval(f"'{name}'")


def address_of(value: gdb.Value) -> int:
    # Not through a C++ cast: PerCpu<T> has no operator&, but gdb's own address takes none.
    return int(value.address) & _U64


class Image:
    """The linked kernel that gdb was given."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.built = path.stat().st_mtime_ns
        self.elf = Elf(path)
        self._per_cpu: Optional[dict[str, gdb.Value]] = None
        self._regions: Optional[list[tuple[int, int, str]]] = None

    def _demangled(self, mangled: str) -> str:
        return gdb.execute(f"demangle -- {mangled}", to_string=True).strip() if mangled.startswith("_Z") else mangled

    def per_cpu_variables(self) -> dict[str, gdb.Value]:
        """By short name, in the order of their addresses."""
        if self._per_cpu is None:
            window = self.elf.section_range(".percpu")
            found = []
            for mangled, address in self.elf.symbols.items():
                if address not in window or not mangled:
                    continue
                name = self._demangled(mangled)
                try:
                    value = variable(name)
                except gdb.error:
                    continue  # a bound that the linker script sets
                if str(value.type.unqualified()).startswith(_PER_CPU_TYPE):
                    found.append((address, short_name(name), value))
            self._per_cpu = {name: value for _, name, value in sorted(found, key=lambda entry: entry[0])}
        return self._per_cpu

    def region_of(self, address: int) -> str:
        """The part of the kernel's address space, as mm/regions.hpp names it."""
        if self._regions is None:
            self._regions = self._read_regions()
        for start, length, name in self._regions:
            if start <= address < start + length:
                return name
        return "between the regions"

    def _read_regions(self) -> list[tuple[int, int, str]]:
        addresses = [at for name, at in self.elf.symbols.items() if name.startswith("_ZN3atl2mm8kRegionsI")]
        if not addresses:
            return []
        # As many as the enumeration has before its last, which is for all that lies between them.
        count = len(gdb.lookup_type("atl::mm::Region").fields()) - 1
        type_ = gdb.lookup_type("atl::mm::RegionRange").array(count - 1)
        # Of the file: before the MMU is on there is nobody to ask.
        table = gdb.Value(self.elf.bytes_at(addresses[0], type_.sizeof), type_)
        return [(int(entry["range"]["start"]["value_"]) & _U64, int(entry["range"]["size"]),
                 str(entry["region"]).rpartition("::")[2].replace("_", " "))
                for entry in (table[i] for i in range(count))]


_image: Optional[Image] = None


def image() -> Image:
    """Read once, and again when gdb is given another file or the file is built anew."""
    global _image
    name = gdb.current_progspace().filename
    if name is None:
        raise gdb.GdbError("no kernel is loaded: `file build/<configuration>/atoll.elf`")
    path = Path(name)
    if _image is None or (_image.path, _image.built) != (path, path.stat().st_mtime_ns):
        _image = Image(path)
    return _image


@dataclass(frozen=True)
class KernelCpu:
    """A CPU of the machine and its number in the kernel: None where it does not run on a root that tells it."""

    cpu: Cpu
    number: Optional[int]


def number_of(cpu: Cpu) -> Optional[int]:
    """What the CPU reads as its own number, through its local window: the kernel keeps no other list."""
    try:
        return int.from_bytes(cpu.read_memory(address_of(variable(CPU_NUMBER)), 4), "little")
    except gdb.GdbError:
        return None


def kernel_cpus() -> list[KernelCpu]:
    return [KernelCpu(cpu, number_of(cpu)) for cpu in read_cpus()]


def cpu_by_number(text: str) -> Cpu:
    """The CPU with the logical number that the expression `text` gives; before any has one, QEMU's number."""
    wanted = int(gdb.parse_and_eval(text))
    cpus = kernel_cpus()
    if all(each.number is None for each in cpus):
        found = [each.cpu for each in cpus if each.cpu.qemu_number == wanted]
    else:
        found = [each.cpu for each in cpus if each.number == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        raise gdb.GdbError(f"threads {', '.join(str(cpu.thread.num) for cpu in found)} all read {wanted} as their "
                           "number: a local window is wrong; compare them with `thread` and `atoll-walk`")
    raise gdb.GdbError(f"no CPU {wanted} runs the kernel: `atoll-cpus` lists who does")


def read_as_seen_by(cpu: Cpu, value: gdb.Value) -> gdb.Value:
    """The variable's content in `cpu`'s view of memory."""
    return gdb.Value(cpu.read_memory(address_of(value), value.type.sizeof), value.type)


def states_and_mpidrs(cpu: Cpu) -> dict[int, tuple[str, int]]:
    """{logical number: (state by name, MPIDR)} of all possible CPUs, as the kernel keeps them."""
    roll_call = read_as_seen_by(cpu, variable(_ROLL_CALL))["states_"]["_M_elems"]
    cpu_map = read_as_seen_by(cpu, variable(_CPU_MAP))
    return {number: (str(roll_call[number]["_M_i"]).rpartition("::")[2].replace("_", " "),
                     int(cpu_map["mpidrs_"]["_M_elems"][number]))
            for number in range(int(cpu_map["count_"]))}


def place_of(address: int) -> str:
    """The function that an address lies in and how far, as the kernel's own backtraces print it; empty if none."""
    text = gdb.execute(f"info symbol {address:#x}", to_string=True)
    match = re.match(r"(.*?)(?: \+ (\d+))? in section ", text)
    return "" if match is None else f"{short_name(match[1])}+{int(match[2] or 0):#x}"
