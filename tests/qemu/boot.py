"""Boots one image on this terminal (`make boot`): QEMU takes this process's place. Ctrl-A X ends it."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from tests.qemu.machine import Machine


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", type=Path, required=True)
    parser.add_argument("--smp", default="4")
    parser.add_argument("--memory", default="2G")
    parser.add_argument("--cpu", default="cortex-a72")
    parser.add_argument("--boot", choices=("direct", "uboot", "fit"), default="direct")
    parser.add_argument("--accel", default="tcg")
    parser.add_argument("--gic", choices=("2", "3"), default="3")
    parser.add_argument("--initrd", type=Path)
    parser.add_argument("--append", default="", metavar="COMMAND_LINE", help="the kernel's command line")
    parser.add_argument("--options", default="", help="added to -M virt")
    parser.add_argument("--gdb", action="store_true", help="wait for a debugger on TCP port 1234 first")
    parser.add_argument("--print", action="store_true", help="print QEMU's command line and stop")
    arguments = parser.parse_args()

    machine = Machine(image=arguments.image.resolve(), smp=arguments.smp, cpu=arguments.cpu,
                      memory=arguments.memory, boot=arguments.boot, command_line=arguments.append,
                      accel=arguments.accel, options=arguments.options, gic=arguments.gic,
                      initrd=arguments.initrd and arguments.initrd.resolve(),
                      extra=("-s", "-S") if arguments.gdb else ())
    command = [*machine.arguments("interactive"), "-serial", "mon:stdio"]
    if arguments.print:
        print(shlex.join(command))
        return 0
    print("Ctrl-A X ends QEMU.", flush=True)
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
