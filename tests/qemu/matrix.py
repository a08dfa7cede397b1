"""The boots of `make check`: which build, on which machine, and what each must show."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

from tests.qemu.build import DEFAULT_CPU, Build
from tests.qemu.machine import Machine

PAGES = ("4k", "16k", "64k")
RUN_SELFTESTS = "run=selftest,poweroff"


class Check(enum.Enum):
    """What a boot is to show (tests/qemu/checks.py does the showing)."""

    SELFTESTS = "every planned selftest passes, and the kernel says so and powers off"
    REFUSAL = "the CPU lacks the granule: one line on the console, then nothing"
    PANIC = "one panic report, and a status that nobody takes for success"
    OUTSIDE = "selftests pass, and page tables read from outside show private windows and equal slots"


@dataclass(frozen=True)
class Panic:
    """What a panic's report must say. `message` is a regular expression for the whole of it; `function` has to be
    in the backtrace; each of `details` is a regular expression for something in the report's lines."""

    message: str
    function: str
    cpu: int = 0
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Boot:
    """One boot. An empty `cpu` stands for the page size's default. `panic` goes with `Check.PANIC`."""

    name: str
    build: Build
    smp: str = "4"
    cpu: str = ""
    memory: str = "2G"
    boot: str = "direct"
    accel: str = "tcg"
    options: str = ""
    extra: tuple[str, ...] = ()
    command_line: str = RUN_SELFTESTS
    check: Check = Check.SELFTESTS
    panic: Optional[Panic] = None

    @property
    def machine(self) -> Machine:
        return Machine(image=self.build.image, smp=self.smp, cpu=self.cpu or DEFAULT_CPU[self.build.page],
                       memory=self.memory, boot=self.boot, command_line=self.command_line, accel=self.accel,
                       options=self.options, extra=self.extra)

    @property
    def is_large(self) -> bool:
        """Such a boot keeps both cores of a small host busy and runs alone."""
        return self.machine.cpus > 24


def allowed_skips(boot: Boot) -> list[str]:
    """Globs of the reasons for which selftests of this boot may be skipped. Any other skip is a failure."""
    return [reason for reason, applies in _SKIPS if applies(boot.machine)]


# A selftest lists the reasons that it may give; here stands where each may hold.
_SKIPS: tuple[tuple[str, Callable[[Machine], bool]], ...] = (
    ("needs two CPUs", lambda machine: machine.cpus < 2),
    ("needs three CPUs", lambda machine: machine.cpus < 3),
    ("no FEAT_LSE", lambda machine: machine.cpu in ("cortex-a53", "cortex-a57", "cortex-a72")),
)


def _named(prefix: str, build: Build, **machine: object) -> Boot:
    """`prefix` tells boots of one build apart."""
    return Boot(name=f"{build.name}.{prefix}", build=build, **machine)  # type: ignore[arg-type]


def _counts() -> list[Boot]:
    """The CPU counts at which something changes: one; a few; a second cluster (17); a second redistributor
    region (124); the most that Atoll is measured at. Debug builds: they check more."""
    return [_named(f"direct-{smp}", Build(page=page, debug=True), smp=str(smp))
            for page in PAGES for smp in (1, 2, 17, 124, 160)]


def _firmware() -> list[Boot]:
    """Through U-Boot, as users boot it; and one FIT a page size."""
    boots = [_named(f"uboot-{smp}", Build(page=page), smp=str(smp), boot="uboot")
             for page in PAGES for smp in (4, 160)]
    return boots + [_named("fit-4", Build(page=page), boot="fit") for page in PAGES]


def _toolchains() -> list[Boot]:
    return [_named(f"direct-{smp}", Build(page=page, llvm=True), smp=str(smp))
            for page in PAGES for smp in (4, 160)]


def _accessors() -> list[Boot]:
    return [_named(f"direct-{smp}", Build(page=page, percpu="preempt", debug=page == "4k"), smp=str(smp))
            for page, smp in (("4k", 17), ("16k", 4), ("64k", 160))]


def _address_sizes() -> list[Boot]:
    """Small root slots: root syncs happen at run time."""
    return [_named(f"direct-{smp}", Build(page="4k", va=39, debug=True), smp=str(smp)) for smp in (4, 17)]


def _cpus() -> list[Boot]:
    """CASES 18 and 19: granule detection, physical address sizes, LSE. The 16K image refuses where there is
    no 16K granule, through both loaders."""
    old = [_named(f"cpu-{cpu}", Build(page=page), cpu=cpu) for page, cpu in (("4k", "cortex-a53"),
                                                                            ("64k", "cortex-a57"))]
    new = [_named(f"cpu-{cpu.split('=')[0].replace(',', '-no-')}", Build(page=page), cpu=cpu)
           for cpu in ("neoverse-n1", "max", "max,lpa2=off") for page in PAGES]
    lse = [_named("cpu-cortex-a76", Build(page=page, debug=True), cpu="cortex-a76") for page in ("4k", "64k")]
    far = [_named("cpu-cortex-a76-160", Build(page="4k"), cpu="cortex-a76", smp="160")]
    refusals = [_named(f"refusal-{cpu}", Build(page="16k"), cpu=cpu, check=Check.REFUSAL)
                for cpu in ("cortex-a53", "cortex-a57", "cortex-a72", "a64fx")]
    refusals.append(_named("refusal-uboot", Build(page="16k"), cpu="cortex-a72", boot="uboot",
                           check=Check.REFUSAL))
    return old + new + lse + far + refusals


def _machines() -> list[Boot]:
    """CASES 3, 9, 10 and 44, and entry at EL2."""
    debug = {page: Build(page=page, debug=True) for page in PAGES}
    two_nodes = ("-object", "memory-backend-ram,id=low,size=1G", "-object", "memory-backend-ram,id=high,size=1G",
                 "-numa", "node,nodeid=0,memdev=low,cpus=0-1", "-numa", "node,nodeid=1,memdev=high,cpus=2-3")
    boots = [
        _named("case3-clusters", debug["4k"], smp="24,sockets=2,clusters=2,cores=3,threads=2"),
        _named("case3-cpus-18", debug["64k"], smp="18"),
        _named("case9-disabled-memory", debug["4k"], options="secure=on"),
        _named("case9-two-nodes", debug["64k"], extra=two_nodes),
        _named("case44-one-thread", debug["4k"], smp="8", accel="tcg,thread=single"),
        _named("entry-at-el2", debug["4k"], smp="8", options="virtualization=on"),
        _named("entry-at-el2-uboot", Build(page="16k"), smp="8", boot="uboot", options="virtualization=on"),
    ]
    boots += [_named("case10-odd-memory", debug[page], memory="1048580K") for page in PAGES]
    boots += [_named("outside-160", Build(page=page), smp="160", command_line="run=selftest",
                     check=Check.OUTSIDE) for page in PAGES]
    return boots


def _panics() -> list[Boot]:
    """Each way into the report: a call, an abort, and the emergency stack of another CPU than the boot CPU."""
    def panic(name: str, page: str, command: str, report: Panic) -> Boot:
        return _named(name, Build(page=page, debug=True), command_line=f'run="{command}"', check=Check.PANIC,
                      panic=report)

    def overflow(page: str, stack_bytes: int) -> Boot:
        message = rf"kernel stack overflow: sp 0x[0-9a-f]+ is \d+ bytes below its stack of {stack_bytes} bytes"
        return panic("panic-overflow", page, "panic overflow 3", Panic(message, "overflow_stack", cpu=3))

    fault = Panic(r"data abort, current EL: translation fault at level \d, write, at 0x[0-9a-f]+ \(kernel stacks\)",
                  "write_guard_page", details=(r"at (0x[0-9a-f]+) \((.|\n)*\n  esr 0x960000[0-9a-f]{2}  far \1\n",))
    return [
        panic("panic", "4k", "panic", Panic("requested by the monitor's `panic`", "panic_on_request")),
        panic("panic-fault", "4k", "panic fault", fault),
        overflow("4k", 16 * 1024),
        overflow("64k", 64 * 1024),
    ]


def boots() -> list[Boot]:
    """All of them. Names are unique: they name the logs."""
    every = (_counts() + _firmware() + _toolchains() + _accessors() + _address_sizes() + _cpus() + _machines()
             + _panics())
    assert len({boot.name for boot in every}) == len(every)
    return every
