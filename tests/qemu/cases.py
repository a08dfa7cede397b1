"""The boots of machines, loaders and inputs that have broken other kernels, named after the case's number."""

from __future__ import annotations

import zlib

from tests.qemu.build import Build
from tests.qemu.hostile_trees import hostile_trees
from tests.qemu.spec import PAGES, Boot, Check, Place, named
from tests.qemu.trees import Tree

_MIB = 1 << 20
_COMMANDS = "run=cpus,mem,poweroff"
_KEEP = "run=selftest,mem,ptdump"
# U-Boot's own place for an Image; a user types the rest.
_PROMPT = {"boot": "prompt", "image_address": 0x40400000}
_TREE_STAYS = "setenv fdt_high 0xffffffffffffffff"
_INITRD_STAYS = "setenv initrd_high 0xffffffffffffffff"


def one(name: str, page: str = "", **fields: object) -> list[Boot]:
    """On one page size, where it makes no difference; which, the name decides, so that all are used alike."""
    return [named(name, Build(page=page or PAGES[zlib.crc32(name.encode()) % len(PAGES)], debug=True), **fields)]


def each(name: str, **fields: object) -> list[Boot]:
    """On every page size."""
    return [boot for page in PAGES for boot in one(name, page, **fields)]


def boots() -> list[Boot]:
    return [*_cpus(), *_interrupts(), *_firmware(), *_memory(), *_reservations(), *_tree_places(), *_images(),
            *_console(), *hostile_trees(one)]


def _cpus() -> list[Boot]:
    """Case 3, what QEMU lets a user say of CPUs, and case 44."""
    return [
        *one("case3-clusters", smp="24,sockets=2,clusters=2,cores=3,threads=2"),
        *one("case3-threads", smp="4,sockets=1,cores=2,threads=2"),
        *one("case3-cpus-18", smp="18"),
        *one("case3-shuffled", smp="18", memory="1G", boot="stub", tree=Tree(base="shuffled-cpus.dts")),
        *one("case3-maxcpus", smp="2,maxcpus=8"),
        *one("case3-maxcpus-option", smp="8", command_line="maxcpus=3 run=selftest,poweroff", online=3),
        *one("case3-maxcpus-zero", command_line="maxcpus=0 run=cpus,poweroff", check=Check.COMMANDS,
             says=(r"^1 of \d CPUs online",)),
        *one("case44-one-thread", "4k", smp="8", accel="tcg,thread=single"),
    ]


def _interrupts() -> list[Boot]:
    """Case 4: GICv2, asked for and as `-M virt` comes; its Non-secure view; no second frame above 4 GiB."""
    return [
        *(boot for gic in ("2", "") for smp in (1, 8) for boot in each(f"case4-gic{gic or '-default'}-{smp}", gic=gic,
                                                                       smp=str(smp))),
        *one("case4-gic2-secure", gic="2", smp="8", options="secure=on"),
        *one("case4-gic2-el2", gic="2", smp="8", options="virtualization=on"),
        *one("case4-gic2-prompt", gic="2", **_PROMPT),
        *one("case4-highmem-off", options="highmem=off", smp="8"),
    ]


def _firmware() -> list[Boot]:
    """Cases 6 and 7: whom to call and how; entry at EL2. Where nobody can be called, the boot CPU is alone."""
    alone = {"boot": "stub", "command_line": "run=cpus,selftest,poweroff", "says": (r"^1 of 1 CPUs online",),
             "online": 1}
    lies = {**alone, "seconds": 10.0, "says": (*alone["says"], r"^firmware: PSCI does not answer by (hvc|smc)")}
    return [
        *one("case6-secure", smp="8", options="secure=on"),
        *one("case6-no-psci", **alone, tree=Tree("/delete-node/ &{/psci};")),
        *one("case6-spin-table", **alone, tree=Tree("".join(
            f'&{{/cpus/cpu@{cpu}}} {{ enable-method = "spin-table"; }};' for cpu in range(4)))),
        *one("case6-lies-smc", **lies, tree=Tree('&{/psci} { method = "smc"; };')),
        *one("case6-lies-hvc-el2", **lies, options="virtualization=on", tree=Tree('&{/psci} { method = "hvc"; };')),
        # QEMU starts all CPUs of an EL3 without firmware at once.
        *one("case7-el3", boot="stub", tree=Tree(), options="secure=on", check=Check.MESSAGE,
             says=(r"^atoll: entered at EL3, .*; stopped$",)),
        *each("case7-el2", smp="8", options="virtualization=on"),
        *one("case7-el2-max", smp="8", cpu="max", options="virtualization=on"),
        *one("case7-el2-uboot", smp="8", boot="uboot", options="virtualization=on"),
        *one("case7-el2-uboot-max", smp="8", boot="uboot", cpu="max", options="virtualization=on"),
        *one("case7-el2-elf", boot="elf", options="virtualization=on"),
    ]


def _memory() -> list[Boot]:
    """Cases 9 and 10: banks and sizes."""
    nodes = ("-object", "memory-backend-ram,id=low,size=1G", "-object", "memory-backend-ram,id=high,size=1G",
             "-numa", "node,nodeid=0,memdev=low,cpus=0-1")
    two_nodes = (*nodes, "-numa", "node,nodeid=1,memdev=high,cpus=2-3")
    cpu_only = (*nodes, "-numa", "node,nodeid=1,memdev=high", "-numa", "node,nodeid=2,cpus=2-3")
    too_small = {"command_line": "mem=64K run=selftest,poweroff", "check": Check.MESSAGE,
                 "says": (r"^panic: memory: no free RAM beside kernel",)}
    bank = '/ {{ memory@{} {{ device_type = "memory"; reg = <{} 0x0 0x10000000>; }}; }};'

    def ram_of(name: str, source: str, says: str) -> list[Boot]:
        """All of 256 MiB is used, and nothing of what the tree promises beside it."""
        return each(f"case10-ram-{name}", memory="256M", boot="stub", tree=Tree(source),
                    says=(says, r"^memory: 25[56] MiB of RAM"))

    return [
        *one("case9-disabled-memory", options="secure=on"),
        *one("case9-two-nodes", extra=two_nodes),
        *one("case9-cpu-only-node", extra=cpu_only),
        *one("case9-64-banks", memory="1G", smp="1", boot="stub", tree=Tree(base="many-banks.dts"),
             command_line="run=mem,selftest,poweroff", says=(r"^memory: 896 MiB of RAM",)),
        *(boot for memory in ("1048580K", "129M", "33M") for boot in each(f"case10-{memory}", memory=memory)),
        *each("case10-24M-initrd", memory="24M", initrd=8 * _MIB, command_line=_KEEP, check=Check.INTACT),
        *each("case10-limit", command_line="mem=262145K run=selftest,poweroff"),
        *each("case10-limit-low", command_line="mem=1049585K run=selftest,poweroff", memory="1048580K"),
        *one("case10-16G", memory="16G"),
        *each("case10-limit-too-small", **too_small),
        *ram_of("less", '&{/memory@40000000} { reg = <0x0 0x40000000 0x0 0x20000000>; };',
                r"^memory: 262144 of 524288 KiB at 0x0*40000000 are left out: they are not there"),
        *ram_of("absent", bank.format("400000000", "0x4 0x00000000"),
                r"^memory: 262144 of 262144 KiB at 0x0*400000000 are left out: they are not there"),
    ]


def _reservations() -> list[Boot]:
    """Case 12: what is reserved stays as it was, and is not mapped where the tree says so."""
    return each("case12-reservations", memory="1G", smp="1", boot="stub", tree=Tree(base="reservations.dts"),
                command_line=f"mem=400M {_KEEP}",
                intact=(range(0x42000000, 0x42001800), range(0x50000000, 0x50200000), range(0x51000000, 0x51001000),
                        range(0x58000000, 0x58002000)),
                unmapped=(range(0x58000000, 0x58002000),), initrd=12345, check=Check.INTACT)


def _tree_places() -> list[Boot]:
    """Case 13: wherever a loader puts the tree."""
    stub = {"boot": "stub", "tree": Tree()}
    return [
        *each("case13-tree-unaligned", tree_address=0x48000ff8, **stub),
        *each("case13-tree-behind-image", tree_address=Place.BEHIND_IMAGE, **stub),
        *each("case13-tree-at-end", tree_address=Place.END_OF_RAM, **stub),
        *one("case13-tree-at-start", tree_address=0x40000000, **stub),
        *one("case13-tree-8G", memory="8G", tree_address=0x1_0000_0008, **stub),
        *each("case13-prompt", **_PROMPT),
        *each("case13-prompt-tree-stays", commands=(_TREE_STAYS,), **_PROMPT),
        *one("case13-prompt-8G", memory="8G", **_PROMPT),
        *each("case13-elf", boot="elf"),
        *one("case13-elf-8", boot="elf", smp="8", command_line="run=mem,selftest,poweroff",
             says=(r"reserved 0x40000000 .*: device tree",)),
    ]


def _images() -> list[Boot]:
    """Case 15: wherever a loader puts the Image, and what lies behind it. Off a page boundary it cannot run."""
    def misplaced(address: int, page: str) -> list[Boot]:
        says = rf"^atoll: 0x0*{address:x}: the image must not be loaded there: .*; stopped$"
        return one(f"case15-misplaced-{address:x}", page, boot="stub", image_address=address, tree=Tree(),
                   check=Check.MESSAGE, says=(says,))

    return [
        *(boot for address in (0x40200000, 0x4fe00000, 0xb0000000)
          for boot in one(f"case15-prompt-{address:x}", boot="prompt", image_address=address)),
        *(boot for address in (0x40400000, 0x50000000, 0xbfc00000)
          for boot in one(f"case15-stub-{address:x}", boot="stub", image_address=address, tree=Tree())),
        *(boot for page in PAGES for boot in misplaced(0x40200800, page)),
        *(boot for page in PAGES if page != "4k" for boot in misplaced(0x40201000, page)),
        *one("case15-stub-40201000", "4k", boot="stub", image_address=0x40201000, tree=Tree()),
        *each("case15-initrd-behind-image", boot="stub", tree=Tree(), initrd=3 * _MIB + 1, command_line=_KEEP,
              check=Check.INTACT),
        *one("case15-prompt-initrd", initrd=3 * _MIB + 1, commands=(_INITRD_STAYS,), command_line=_KEEP,
             check=Check.INTACT, **_PROMPT),
        *(boot for loader in ("uboot", "fit") for boot in one(
            f"case15-{loader}-initrd", boot=loader, initrd=3 * _MIB + 1, command_line=_KEEP, check=Check.INTACT)),
        *one("case15-prompt-initrd-moved", initrd=3 * _MIB + 1, command_line=_KEEP, check=Check.INTACT, **_PROMPT),
    ]


def _console() -> list[Boot]:
    """What a user types, and where the kernel prints."""
    def earlycon(name: str, address: str, *says: str) -> list[Boot]:
        return one(f"earlycon-{name}", command_line=f"earlycon=pl011,{address} run=selftest,poweroff", says=says)

    typed = {"command_line": "", "check": Check.CONSOLE}
    return [
        *each("console", **typed),
        *one("console-gic2", gic="2", **typed),
        *one("console-1", smp="1", **typed),
        *one("console-no-interrupt", boot="stub", command_line="", typed="\r\rcpus\rpoweroff\r", check=Check.COMMANDS,
             tree=Tree("&{/pl011@9000000} { /delete-property/ interrupts; };"), says=(r"^4 of 4 CPUs online",)),
        *earlycon("right", "0x9000000"),
        *earlycon("ram", "0x60000000", r"^earlycon: .*not used"),
        *earlycon("nothing-there", "0x10000000000", r"^earlycon: .*not used"),
        *earlycon("other-device", "0x9010000", r"^earlycon: .*not used"),
        *earlycon("no-number", "here", r"earlycon"),
        *one("quotes-unbalanced", command_line='run="cpus,poweroff', check=Check.COMMANDS),
    ]
