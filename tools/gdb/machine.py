"""The machine behind gdb's connection: its CPUs' registers and its physical memory. Knows nothing of the kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Optional

import gdb

from tools.page_table import Geometry, UnknownFormat, Walker

_U64 = (1 << 64) - 1
_TTBR_ADDRESS = (1 << 48) - 1 & ~1
_PACKET_BYTES = 1024
# The names that QEMU has given this register.
_SCTLR = ("SCTLR", "SCTLR_EL1")


def _connection() -> gdb.RemoteTargetConnection:
    connection = gdb.selected_inferior().connection
    if not isinstance(connection, gdb.RemoteTargetConnection):
        raise gdb.GdbError("not connected to QEMU: start it with `make gdb`, then `target remote :1234`")
    return connection


def read_physical(address: int, size: int) -> bytes:
    """Past any CPU's MMU. Only of RAM: reading a device may change it."""
    connection = _connection()
    if connection.send_packet("Qqemu.PhyMemMode:1") != b"OK":
        raise gdb.GdbError("this gdb server cannot read physical memory (Qqemu.PhyMemMode): QEMU from 4.2 on can")
    try:
        inferior = gdb.selected_inferior()
        return b"".join(bytes(inferior.read_memory(address + at, min(_PACKET_BYTES, size - at)))
                        for at in range(0, size, _PACKET_BYTES))
    except gdb.MemoryError:
        raise gdb.GdbError(f"no memory at physical {address:#x}") from None
    finally:
        connection.send_packet("Qqemu.PhyMemMode:0")


@contextlib.contextmanager
def selected(thread: gdb.InferiorThread) -> Iterator[None]:
    """Runs its body with `thread` selected, and then what was."""
    thread_before = gdb.selected_thread()
    frame_before = gdb.selected_frame() if thread_before is not None else None
    try:
        if thread_before is None or thread.num != thread_before.num:
            thread.switch()
        yield
    finally:
        if thread_before is not None:
            if gdb.selected_thread().num != thread_before.num:
                thread_before.switch()
            if frame_before is not None and frame_before.is_valid():
                frame_before.select()


@dataclass(frozen=True)
class Cpu:
    """One of QEMU's CPUs while the machine is stopped."""

    thread: gdb.InferiorThread
    pc: int
    mmu: bool
    ttbr0: int
    ttbr1: int
    tcr: int
    mair: int

    @property
    def qemu_number(self) -> int:
        """QEMU's, which on `virt` is the place in the device tree."""
        return int(self.thread.ptid[1]) - 1

    def geometry(self, upper: bool) -> Geometry:
        if not self.mmu:
            raise gdb.GdbError(f"thread {self.thread.num} runs with its MMU off: there are no tables to walk; "
                               "addresses are physical")
        try:
            return Geometry.from_tcr(self.tcr, upper)
        except UnknownFormat as error:
            raise gdb.GdbError(f"thread {self.thread.num}: {error}") from None

    def root(self, upper: bool) -> int:
        return (self.ttbr1 if upper else self.ttbr0) & _TTBR_ADDRESS

    def walker(self, upper: bool, *, whole_tables: bool = False) -> Walker:
        return Walker(self.geometry(upper), read_physical, whole_tables=whole_tables)

    def translate(self, address: int) -> Optional[int]:
        """By this CPU's tables, whichever thread is selected; None where nothing is mapped."""
        upper = is_upper(address)
        return self.walker(upper).translate(self.root(upper), address)

    def read_memory(self, address: int, size: int) -> bytes:
        """What this CPU sees at a virtual address."""
        page = 1 << self.geometry(is_upper(address)).page_shift
        data = b""
        while len(data) < size:
            at = address + len(data)
            physical = self.translate(at)
            if physical is None:
                raise gdb.GdbError(f"{at:#x} is not mapped for thread {self.thread.num}: see `atoll-walk`")
            data += read_physical(physical, min(size - len(data), page - at % page))
        return data


def is_upper(address: int) -> bool:
    """Whether TTBR1 translates it."""
    return bool(address >> 55 & 1)


def register(frame: gdb.Frame, *names: str) -> int:
    """A register of the CPU by the first name that the gdb server knows."""
    for name in names:
        try:
            return int(frame.read_register(name)) & _U64
        except ValueError:
            pass
    raise gdb.GdbError(f"the gdb server has no register {names[0]}: is it QEMU's, of an AArch64 machine?")


def read_cpu(thread: gdb.InferiorThread) -> Cpu:
    with selected(thread):
        frame = gdb.newest_frame()
        return Cpu(thread, register(frame, "pc"), bool(register(frame, *_SCTLR) & 1),
                   register(frame, "TTBR0_EL1"), register(frame, "TTBR1_EL1"), register(frame, "TCR_EL1"),
                   register(frame, "MAIR_EL1"))


def read_cpus() -> list[Cpu]:
    """All of them, in QEMU's order."""
    _connection()
    threads = sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)
    if any(thread.is_running() for thread in threads):
        raise gdb.GdbError("the machine runs: Ctrl-C stops it")
    return [read_cpu(thread) for thread in threads]
