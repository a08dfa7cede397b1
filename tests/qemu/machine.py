"""A virtual machine to boot an image on, as a QEMU command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.qemu import uboot
from tests.qemu.qemu import Limits, Qemu


@dataclass(frozen=True)
class Machine:
    """`boot` is `direct` (QEMU -kernel), `uboot` (booti from a virtio disk) or `fit` (bootm of a FIT).

    `smp`, `memory` and `accel` are what the QEMU options of that name take, `options` is added to `-M virt`.
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

    @property
    def cpus(self) -> int:
        return int(self.smp.split(",")[0])

    def arguments(self, name: str) -> list[str]:
        """The command line, without a console. Boot media are made under build/uboot/`name`."""
        machine = "virt,gic-version=3" + (f",{self.options}" if self.options else "")
        common = ["qemu-system-aarch64", "-M", machine, "-cpu", self.cpu, "-smp", self.smp, "-m", self.memory,
                  "-accel", self.accel, "-nodefaults", "-net", "none", "-display", "none", "-semihosting",
                  "-no-reboot", *self.extra]
        if self.boot == "direct":
            append = ["-append", self.command_line] if self.command_line else []
            return [*common, "-kernel", str(self.image), *append]
        media = uboot.prepare(name, self.image, self.command_line, fit=self.boot == "fit")
        return [*common, *media.arguments()]

    def start(self, name: str, log: Path, *, qmp: bool = False, gdb: bool = False) -> Qemu:
        """To be used in a `with`; the console goes to `log`."""
        arguments = [*self.arguments(name), "-serial", "stdio"]
        return Qemu(arguments, log, Limits.for_cpus(self.cpus), qmp=qmp, gdb=gdb)
