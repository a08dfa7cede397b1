"""Device trees for the stub: QEMU's own, or one of dts/, changed as source and then as bytes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Optional

from tests.qemu.build import ROOT
from tests.qemu.machine import Machine, describe

SOURCES = ROOT / "dts"
TOTAL_SIZE = 4  # offset of a tree's size in its header
_DTC_SECONDS = 60


class TreeError(Exception):
    """dtc refused what a test made."""


def unchanged(tree: bytes) -> bytes:
    return tree


@dataclass(frozen=True)
class Tree:
    """A tree made of `base` (a file of dts/; without one QEMU's description of the machine): `source` is put behind it,
    which in DTS changes what it names; `padding` is room behind the last block. `change` does with the bytes what it
    likes. The machine's command line and initrd are in it, unless `source` deletes /chosen."""

    source: str = ""
    base: Optional[str] = None
    padding: int = 0
    change: Callable[[bytes], bytes] = unchanged

    def flatten(self, machine: Machine) -> bytes:
        source = f"{self._base(machine)}{_chosen(machine)}{self.source}\n"
        return self.change(_dtc(source.encode(), "dts", "dtb", "-p", str(self.padding)))

    def _base(self, machine: Machine) -> str:
        if self.base is None:
            return _dtc(describe(replace(machine, initrd=None)).read_bytes(), "dtb", "dts").decode()
        return (SOURCES / self.base).read_text()


def _chosen(machine: Machine) -> str:
    properties = []
    if machine.command_line:
        text = machine.command_line.replace("\\", "\\\\").replace('"', '\\"')
        properties.append(f'bootargs = "{text}";')
    if machine.initrd:
        start = machine.initrd_address
        properties += [f"linux,initrd-{name} = /bits/ 64 <{address:#x}>;"
                       for name, address in (("start", start), ("end", start + machine.initrd.stat().st_size))]
    return f"/ {{ chosen {{ {' '.join(properties)} }}; }};\n" if properties else ""


def set_bytes(at: int, value: bytes) -> Callable[[bytes], bytes]:
    """A change that overwrites."""
    return lambda tree: tree[:at] + value + tree[at + len(value):]


def cut_to(share: float) -> Callable[[bytes], bytes]:
    """A change that leaves only the first part, as a loader that stopped half-way does; the header stays."""
    return lambda tree: tree[:int(len(tree) * share)]


def unterminated(text: str) -> str:
    """A DTS value: a string without its NUL."""
    return f"[{text.encode().hex(' ')}]"


def nested(depth: int) -> str:
    """DTS: nodes within nodes."""
    return "/ { " + "".join(f"level{level} {{ " for level in range(depth)) + "};" * depth + " };"


def _dtc(content: bytes, given: str, wanted: str, *options: str) -> bytes:
    # Names in a tree made by hand are not always those of the specification.
    done = subprocess.run(["dtc", "-q", "-I", given, "-O", wanted, "-i", str(SOURCES), *options, "-"], input=content,
                          check=False, timeout=_DTC_SECONDS, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise TreeError(f"dtc: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
