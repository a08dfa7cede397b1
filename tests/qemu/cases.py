"""The boots of machines that have broken other kernels, named after the case's number."""

from __future__ import annotations

import zlib

from tests.qemu.build import Build
from tests.qemu.spec import PAGES, Boot, named


def one(name: str, page: str = "", **fields: object) -> list[Boot]:
    """On one page size, where it makes no difference; which, the name decides, so that all are used alike."""
    return [named(name, Build(page=page or PAGES[zlib.crc32(name.encode()) % len(PAGES)], debug=True), **fields)]


def each(name: str, **fields: object) -> list[Boot]:
    """On every page size."""
    return [boot for page in PAGES for boot in one(name, page, **fields)]


def boots() -> list[Boot]:
    return [*_cpus(), *_firmware(), *_memory()]


def _cpus() -> list[Boot]:
    """Cases 3 and 44."""
    return [
        *one("case3-clusters", smp="24,sockets=2,clusters=2,cores=3,threads=2"),
        *one("case3-cpus-18", smp="18"),
        *one("case44-one-thread", "4k", smp="8", accel="tcg,thread=single"),
    ]


def _firmware() -> list[Boot]:
    """Case 7: entry at EL2."""
    return [
        *one("case7-el2", "4k", smp="8", options="virtualization=on"),
        *one("case7-el2-uboot", "16k", smp="8", boot="uboot", options="virtualization=on"),
    ]


def _memory() -> list[Boot]:
    """Cases 9 and 10: banks and sizes."""
    two_nodes = ("-object", "memory-backend-ram,id=low,size=1G", "-object", "memory-backend-ram,id=high,size=1G",
                 "-numa", "node,nodeid=0,memdev=low,cpus=0-1", "-numa", "node,nodeid=1,memdev=high,cpus=2-3")
    return [
        *one("case9-disabled-memory", options="secure=on"),
        *one("case9-two-nodes", extra=two_nodes),
        *each("case10-odd-memory", memory="1048580K"),
    ]
