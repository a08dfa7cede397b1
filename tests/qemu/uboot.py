"""Boot media for U-Boot (Debian's u-boot-qemu): a flash environment and a disk made from a folder.

QEMU's second flash bank holds U-Boot's environment. The environment replaces the built-in one whole, so
it carries everything that the boot needs, and a delay of -2: start at once, do not look at the console.
The disk is a folder shown as a FAT file system by QEMU, so no file system tools are needed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from tests.qemu.build import BUILD, ROOT

FIRMWARE = Path("/usr/lib/u-boot/qemu_arm64/u-boot.bin")
FIT_SOURCE = ROOT / "dts/atoll.its"

_ENVIRONMENT_BYTES = 0x40000     # CONFIG_ENV_SIZE of qemu_arm64_defconfig
_FLASH_BYTES = 64 * 1024 * 1024  # a bank of QEMU's virt machine
_KERNEL_ADDRESS = 0x40400000     # 2 MiB aligned: an image of text_offset 0 is started where it is
_FIT_ADDRESS = 0x48000000        # bootm copies the kernel from here to the address that the FIT says
_INITRD_ADDRESS = 0x4a000000     # U-Boot moves it from here to where the kernel finds it
_KEYS = 4                        # a character is lost when the UART is reset, another when U-Boot sets it up


class MediaError(Exception):
    """A tool or file that boot media are made with is missing or failed."""


@dataclass(frozen=True)
class Media:
    """Made boot media; `flash` and `disk` stay on disk until the boot is over."""

    flash: Path
    disk: Path

    def arguments(self) -> list[str]:
        """QEMU options; both media are read-only to the guest."""
        return ["-bios", str(FIRMWARE),
                "-drive", f"if=pflash,unit=1,format=raw,readonly=on,file={self.flash}",
                "-drive", f"if=none,id=boot,format=raw,readonly=on,file=fat:{self.disk}",
                "-device", "virtio-blk-device,drive=boot"]


def environment(command_line: str, *, fit: bool, initrd: bool = False) -> dict[str, str]:
    """U-Boot's variables. Where the boot fails, U-Boot powers off, so that nobody waits for a prompt."""
    file, command, address = ("atoll.itb", "bootm", _FIT_ADDRESS) if fit else ("Image", "booti", _KERNEL_ADDRESS)
    loads = [f"load virtio 0:1 {address:#x} {file}"]
    if initrd:
        loads.append(f"load virtio 0:1 {_INITRD_ADDRESS:#x} initrd")  # the last load sets `filesize`
    ramdisk = f"{_INITRD_ADDRESS:#x}:${{filesize}}" if initrd else "-"
    boot = " && ".join([*loads, f"{command} {address:#x} {ramdisk} ${{fdtcontroladdr}}"])
    return {
        "bootdelay": "-2",
        "fdt_high": "0xffffffffffffffff",  # leave the device tree where it is
        "kernel_addr_r": f"{_KERNEL_ADDRESS:#x}",
        "bootargs": command_line,
        "bootcmd": f"virtio scan; {boot}; echo boot failed; poweroff",
    }


def typed(image: int, command_line: str, commands: tuple[str, ...],
          initrd: Optional[tuple[int, int]] = None) -> str:
    """What a user types to start the Image that lies at `image`: keys that end the countdown, then commands.
    `initrd` is an address and a size."""
    ramdisk = f"{initrd[0]:#x}:{initrd[1]:#x}" if initrd else "-"
    lines = [*[""] * _KEYS, *(f"setenv bootargs '{command_line}'" for _ in range(bool(command_line))), *commands,
             f"booti {image:#x} {ramdisk} ${{fdtcontroladdr}}"]
    return "".join(f"{line}\r" for line in lines)


def prepare(name: str, image: Path, command_line: str, *, fit: bool = False, initrd: Optional[Path] = None) -> Media:
    """Makes the media of one boot under build/uboot/`name`, replacing older ones of that name."""
    directory = BUILD / "uboot" / name
    disk = directory / "disk"
    shutil.rmtree(directory, ignore_errors=True)
    disk.mkdir(parents=True)
    if not FIRMWARE.exists():
        raise MediaError(f"{FIRMWARE} is missing: install u-boot-qemu")
    if fit:
        _make_fit(image, disk / "atoll.itb", directory)
    else:
        shutil.copyfile(image, disk / "Image")
    if initrd:
        shutil.copyfile(initrd, disk / "initrd")
    text = directory / "environment.txt"
    variables = environment(command_line, fit=fit, initrd=initrd is not None)
    text.write_text("".join(f"{key}={value}\n" for key, value in variables.items()))
    flash = directory / "flash.img"
    _run(["mkenvimage", "-s", hex(_ENVIRONMENT_BYTES), "-o", str(flash), str(text)])
    os.truncate(flash, _FLASH_BYTES)  # sparse: takes no space
    return Media(flash, disk)


def _make_fit(image: Path, output: Path, directory: Path) -> None:
    """The FIT source names the kernel `Image`, beside itself."""
    shutil.copyfile(image, directory / "Image")
    shutil.copyfile(FIT_SOURCE, directory / FIT_SOURCE.name)
    _run(["mkimage", "-f", FIT_SOURCE.name, str(output)], cwd=directory)


def _run(command: list[str], cwd: Path = ROOT) -> None:
    try:
        subprocess.run(command, cwd=cwd, check=True, timeout=60, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError as error:
        raise MediaError(f"{command[0]} is missing: install u-boot-tools") from error
    except subprocess.CalledProcessError as error:
        raise MediaError(f"{' '.join(command)} failed:\n{error.stdout}") from error
