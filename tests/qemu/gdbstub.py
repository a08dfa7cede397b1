"""A client for QEMU's gdb server: reads AArch64 system registers of each CPU, which nothing else exposes.

The guest must be stopped before a client connects (QMP `stop`): connecting to a running one makes the server
send a stop report that nobody asked for.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tests.qemu.qmp import connect

_ANSWER_SECONDS = 60.0


class GdbError(Exception):
    """The server refused a packet, or does not know a register."""


class GdbStub:
    """CPUs are numbered from 0, in QEMU's order, which on `virt` is the device tree's order."""

    def __init__(self, path: Path) -> None:
        self._socket = connect(path)
        self._socket.settimeout(_ANSWER_SECONDS)
        self._buffer = b""
        supported = self._ask("qSupported:multiprocess+;xmlRegisters=aarch64")
        if "qXfer:features:read+" not in supported:
            raise GdbError("the gdb server describes no registers")
        self._registers = self._read_register_numbers()

    def close(self) -> None:
        """Detaches; the guest runs on."""
        self._ask("D;1")
        self._socket.close()

    def read_register(self, cpu: int, name: str) -> int:
        """A 64-bit register of one CPU by the Arm ARM's name, for example `TTBR1_EL1`."""
        number = self._registers.get(name)
        if number is None:
            raise GdbError(f"the gdb server has no register {name}")
        if self._ask(f"Hgp1.{cpu + 1:x}") != "OK":
            raise GdbError(f"the gdb server has no CPU {cpu}")
        answer = self._ask(f"p{number:x}")
        if len(answer) != 16:
            raise GdbError(f"{name} of CPU {cpu} reads {answer!r}")
        return int.from_bytes(bytes.fromhex(answer), "little")

    def _read_register_numbers(self) -> dict[str, int]:
        """Registers are numbered in the order in which the description's parts list them, one after another,
        unless a part says otherwise."""
        numbers: dict[str, int] = {}
        following = 0
        for part in re.findall(r'href="([^"]+)"', self._read_description("target.xml")):
            for register in ElementTree.fromstring(self._read_description(part)).iter("reg"):
                following = int(register.get("regnum", following))
                numbers[register.attrib["name"]] = following
                following += 1
        return numbers

    def _read_description(self, name: str) -> str:
        text = ""
        while True:
            answer = self._ask(f"qXfer:features:read:{name}:{len(text):x},800")
            text += answer[1:]
            if answer[:1] != "m":
                return text

    def _ask(self, packet: str) -> str:
        """One request and its answer. `E..` answers raise."""
        checksum = sum(packet.encode()) & 0xff
        self._socket.sendall(f"${packet}#{checksum:02x}".encode())
        answer = self._receive()
        if re.fullmatch(r"E[0-9a-f]{2}", answer):
            raise GdbError(f"{packet}: {answer}")
        return answer

    def _receive(self) -> str:
        """The next packet, without its frame; acknowledges it. The escapes `}` are undone."""
        while not (match := re.search(rb"\$(.*?)#[0-9a-fA-F]{2}", self._buffer, re.DOTALL)):
            chunk = self._socket.recv(65536)
            if not chunk:
                raise GdbError("QEMU closed the gdb connection")
            self._buffer += chunk
        self._buffer = self._buffer[match.end():]
        self._socket.sendall(b"+")
        raw = re.sub(rb"}(.)", lambda escape: bytes([escape[1][0] ^ 0x20]), match[1], flags=re.DOTALL)
        return raw.decode("latin-1")
