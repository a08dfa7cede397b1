"""A virtual machine to boot an image on, as a QEMU command line."""

from __future__ import annotations

import dataclasses
import hashlib
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from tests.qemu import uboot
from tests.qemu.build import BUILD
from tests.qemu.qemu import Limits, Qemu

RAM_START = 0x40000000
IMAGE_ADDRESS = 0x40200000
TREE_ADDRESS = 0x48000000
STUB = BUILD / "stub/stub.elf"
TREES = BUILD / "trees"

_ARGUMENTS = 0x400f1000  # where the stub (tests/qemu/stub) finds x0 and the address to jump to
_SIZE_UNITS = {"": 1 << 20, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_DESCRIBE_SECONDS = 60
_TREE_MAGIC = 0xd00dfeed


@dataclass(frozen=True)
class Machine:
    """`boot` is `direct` (QEMU -kernel), `uboot` (booti from a virtio disk), `fit` (bootm of a FIT), `prompt` (booti as
    it is typed at U-Boot's prompt, after `commands`) or `stub`.

    `smp`, `memory` and `accel` are what the QEMU options of that name take, `options` is added to `-M virt`. `gic` is
    "2", "3" or "" for what the board has by itself. `initrd` is the file that the loader hands over. `loads` are files
    put into guest memory by address, whatever the loader.

    `prompt` and `stub` start the Image at `image_address` and put the initrd directly behind what the Image's header
    claims. The stub (tests/qemu/stub) passes x0 = `tree_address`, where the bytes of `device_tree` lie, unless that is
    no RAM; without one, QEMU's own tree. It is the tree that has to say where the initrd is.

    `typed` waits on the console from the start; the reset of the machine takes away its first character.
    """

    image: Path
    smp: str = "4"
    cpu: str = "cortex-a72"
    memory: str = "2G"
    boot: str = "direct"
    command_line: str = ""
    accel: str = "tcg"
    options: str = ""
    extra: tuple[str, ...] = ()
    gic: str = "3"
    device_tree: Optional[Path] = None
    tree_address: int = TREE_ADDRESS
    image_address: int = IMAGE_ADDRESS
    initrd: Optional[Path] = None
    loads: tuple[tuple[Path, int], ...] = ()
    commands: tuple[str, ...] = ()
    typed: str = ""

    @property
    def initrd_address(self) -> int:
        """Where `prompt` and `stub` put it."""
        return self.image_address + image_size(self.image)

    @property
    def cpus(self) -> int:
        return int(self.smp.split(",")[0])

    @property
    def ram(self) -> range:
        number = self.memory.rstrip("KMG")
        return range(RAM_START, RAM_START + int(number) * _SIZE_UNITS[self.memory[len(number):]])

    def arguments(self, name: str) -> list[str]:
        """The command line, without a console. Boot media are made under build/uboot/`name`."""
        return [*self._common(), *self._loader(name),
                *(option for path, address in self.loads for option in _load(path, address))]

    def start(self, name: str, log: Path, *, qmp: bool = False, gdb: bool = False) -> Qemu:
        """To be used in a `with`; the console goes to `log`."""
        arguments = [*self.arguments(name), "-serial", "stdio"]
        typed = self.typed
        if self.boot == "prompt":
            initrd = (self.initrd_address, self.initrd.stat().st_size) if self.initrd else None
            typed = uboot.typed(self.image_address, self.command_line, self.commands, initrd) + typed
        return Qemu(arguments, log, Limits.for_cpus(self.cpus), qmp=qmp, gdb=gdb, typed=typed)

    def _common(self, *options: str) -> list[str]:
        gic = f"gic-version={self.gic}" if self.gic else ""
        machine = ",".join(part for part in ("virt", gic, self.options, *options) if part)
        return ["qemu-system-aarch64", "-M", machine, "-cpu", self.cpu, "-smp", self.smp, "-m", self.memory,
                "-accel", self.accel, "-nodefaults", "-net", "none", "-display", "none", "-semihosting",
                "-no-reboot", *self.extra]

    def _loader(self, name: str) -> list[str]:
        if self.boot == "direct":
            append = ["-append", self.command_line] if self.command_line else []
            initrd = ["-initrd", str(self.initrd)] if self.initrd else []
            return ["-kernel", str(self.image), *append, *initrd]
        if self.boot in ("prompt", "stub"):
            loaded = [*_load(self.image, self.image_address),
                      *(_load(self.initrd, self.initrd_address) if self.initrd else ())]
            return [*loaded, *(self._stub() if self.boot == "stub" else ("-bios", str(uboot.FIRMWARE)))]
        media = uboot.prepare(name, self.image, self.command_line, fit=self.boot == "fit", initrd=self.initrd)
        return media.arguments()

    def _stub(self) -> list[str]:
        tree = self.device_tree or describe(self)
        words = ((_ARGUMENTS, self.tree_address), (_ARGUMENTS + 8, self.image_address))
        return ["-kernel", str(STUB), *(_load(tree, self.tree_address) if self.tree_address in self.ram else ()),
                *(option for address, word in words
                  for option in ("-device", f"loader,addr={address:#x},data={word:#x},data-len=8"))]


def describe(machine: Machine) -> Path:
    """QEMU's own device tree for a machine, with its command line and initrd in it: a file under build/trees/, without
    the room that QEMU leaves for growth, and without its random seeds. Equal machines share it; it is made anew and
    replaced at once."""
    described = dataclasses.replace(machine, boot="direct", device_tree=None, loads=())
    path = TREES / f"{hashlib.sha256(repr(described).encode()).hexdigest()[:16]}.dtb"
    TREES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TREES) as directory:
        dump = Path(directory) / path.name
        command = [*described._common("dtb-randomness=off", f"dumpdtb={dump}"), *described._loader("")]
        done = subprocess.run(command, check=False, timeout=_DESCRIBE_SECONDS, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0 or not dump.exists():
            raise OSError(f"QEMU describes no such machine: {done.stdout.strip()}")
        dump.write_bytes(shrink(dump.read_bytes()))
        dump.rename(path)
    return path


def image_size(image: Path) -> int:
    """What an arm64 Image says that it takes, BSS and all."""
    with image.open("rb") as file:
        return int(struct.unpack_from("<Q", file.read(64), 16)[0])


def shrink(tree: bytes) -> bytes:
    """A flattened tree that ends where its last block does."""
    magic, _, structure, strings, _, _, _, _, strings_size, structure_size = struct.unpack_from(">10I", tree)
    if magic != _TREE_MAGIC:
        raise ValueError(f"the magic of a device tree is {_TREE_MAGIC:#x}, not {magic:#x}")
    end = max(structure + structure_size, strings + strings_size)
    return tree[:4] + struct.pack(">I", end) + tree[8:end]


def _load(path: Path, address: int) -> list[str]:
    return ["-device", f"loader,file={path},addr={address:#x},force-raw=on"]
