"""What a boot of the matrix is: a build, a machine with what its loader gives it, and what the boot must show."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Optional

from tests.qemu import conversation
from tests.qemu.build import BUILD, DEFAULT_CPU, Build
from tests.qemu.intact import INITRD_SEED, pattern
from tests.qemu.machine import IMAGE_ADDRESS, TREE_ADDRESS, Machine, image_size
from tests.qemu.qemu import Qemu
from tests.qemu.trees import Tree

PAGES = ("4k", "16k", "64k")
RUN_SELFTESTS = "run=selftest,poweroff"
INPUTS = BUILD / "inputs"


class Check(enum.Enum):
    """What a boot is to show (tests/qemu/checks.py does the showing)."""

    SELFTESTS = "every planned selftest passes, and the kernel says so and powers off"
    COMMANDS = "the commands of `run=` pass, and the kernel says so and powers off"
    MESSAGE = "the kernel says why it cannot go on, and stops or panics"
    PANIC = "one panic report, and a status that nobody takes for success"
    CONSOLE = "every line that is typed is run once and in order, then the kernel powers off"
    INTACT = "selftests pass, and leave alone the bytes that are not theirs"
    OUTSIDE = "selftests pass, and page tables read from outside show private windows and equal slots"
    DEBUGGER = "gdb with tools/gdb/atoll.py shows the CPUs of a kernel at its prompt, or from reset to a panic"


class Place(enum.Enum):
    """An address that depends on the build or on the tree."""

    BEHIND_IMAGE = "the first 8-byte boundary behind what the Image's header claims"
    IN_IMAGE = "what the Image takes, but its file does not fill"
    END_OF_RAM = "the last 8-byte boundary that leaves room for the tree"


@dataclass(frozen=True)
class Panic:
    """What a panic's report must say. `message` is a regular expression for the whole of it; `function` has to be
    in the backtrace; each of `details` is a regular expression for something in the report's lines. `cpu`: None for
    any. `nested`: the message of a fault inside the report, which then is all that comes after `message`. `stops`: all
    other CPUs are stopped, or none."""

    message: str
    function: str
    cpu: Optional[int] = 0
    details: tuple[str, ...] = ()
    nested: str = ""
    stops: bool = True


@dataclass(frozen=True)
class Boot:
    """One boot. An empty `cpu` stands for the page size's default. `boot` may be, besides what a `Machine` knows,
    `elf`: atoll.elf as QEMU's -kernel.

    `tree` goes with the stub: what it gives the kernel instead of the machine's own. `initrd` is the size of one.
    `intact` are filled before the boot and `unmapped` are found in no linear map after it, by `Check.INTACT`. `says`
    are regular expressions, each for a console line that must come. `online` is how many CPUs there are to the
    kernel, where that is not the machine's number. `seconds` is how long it may take, where that is the point. `panic`
    goes with `Check.PANIC`.
    """

    name: str
    build: Build
    smp: str = "4"
    cpu: str = ""
    memory: str = "2G"
    boot: str = "direct"
    accel: str = "tcg"
    gic: str = "3"
    options: str = ""
    extra: tuple[str, ...] = ()
    command_line: str = RUN_SELFTESTS
    tree: Optional[Tree] = None
    tree_address: int | Place = TREE_ADDRESS
    image_address: int = IMAGE_ADDRESS
    commands: tuple[str, ...] = ()
    typed: str = ""
    initrd: int = 0
    intact: tuple[range, ...] = ()
    unmapped: tuple[range, ...] = ()
    says: tuple[str, ...] = ()
    online: int = 0
    seconds: float = 0.0
    check: Check = Check.SELFTESTS
    panic: Optional[Panic] = None

    @property
    def machine(self) -> Machine:
        """Without the files that `start` makes."""
        image, boot = (self.build.elf, "direct") if self.boot == "elf" else (self.build.image, self.boot)
        return Machine(image=image, smp=self.smp, cpu=self.cpu or DEFAULT_CPU[self.build.page], memory=self.memory,
                       boot=boot, command_line=self.command_line, accel=self.accel, gic=self.gic,
                       options=self.options, extra=self.extra, image_address=self.image_address,
                       commands=self.commands,
                       typed=conversation.TYPED if self.check is Check.CONSOLE else self.typed)

    @property
    def is_large(self) -> bool:
        """Such a boot keeps both cores of a small host busy and runs alone."""
        return self.machine.cpus > 24

    def start(self, log: Path, *, qmp: bool = False, gdb: bool = False) -> Qemu:
        """Makes the boot's files under build/inputs/; to be used in a `with`."""
        loads = tuple((self._input(f"{part.start:#x}", pattern(part.start, len(part))), part.start)
                      for part in self.intact)
        machine = replace(self.machine, loads=loads)
        if self.initrd:
            machine = replace(machine, initrd=self._input("initrd", pattern(INITRD_SEED, self.initrd)))
        if self.tree:
            tree = self.tree.flatten(machine)
            machine = replace(machine, device_tree=self._input("tree", tree),
                              tree_address=self._tree_address(len(tree)))
        return machine.start(self.name, log, qmp=qmp, gdb=gdb)

    def _tree_address(self, size: int) -> int:
        if self.tree_address is Place.BEHIND_IMAGE:
            return self.image_address + image_size(self.build.image) + 7 & ~7
        if self.tree_address is Place.IN_IMAGE:
            return self.image_address + self.build.image.stat().st_size + 7 & ~7
        if self.tree_address is Place.END_OF_RAM:
            return self.machine.ram.stop - size & ~7
        assert isinstance(self.tree_address, int)
        return self.tree_address

    def _input(self, name: str, content: bytes) -> Path:
        path = INPUTS / self.name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


def named(prefix: str, build: Build, **fields: object) -> Boot:
    """`prefix` tells boots of one build apart."""
    return Boot(name=f"{build.name}.{prefix}", build=build, **fields)  # type: ignore[arg-type]


def allowed_skips(boot: Boot) -> list[str]:
    """Globs of the reasons for which selftests of this boot may be skipped. Any other skip is a failure."""
    return [reason for reason, applies in _SKIPS if applies(boot)]


# A selftest lists the reasons that it may give; here stands where each may hold.
_SKIPS: tuple[tuple[str, Callable[[Boot], bool]], ...] = (
    ("needs two CPUs", lambda boot: (boot.online or boot.machine.cpus) < 2),
    ("needs three CPUs", lambda boot: (boot.online or boot.machine.cpus) < 3),
    ("no NMI", lambda boot: "secure=on" in boot.options),
    ("more than 512 MiB of RAM", lambda boot: len(boot.machine.ram) > 512 << 20),
    ("no FEAT_LSE", lambda boot: boot.machine.cpu in ("cortex-a53", "cortex-a57", "cortex-a72")),
)
