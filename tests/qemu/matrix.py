"""The boots of `make check`: which build, on which machine, and what each must show."""

from __future__ import annotations

from tests.qemu import cases
from tests.qemu.build import PAGE_BYTES, Build
from tests.qemu.spec import PAGES, Boot, Check, Panic, allowed_skips, named

__all__ = ["PAGES", "Boot", "Check", "Panic", "allowed_skips", "boots"]


def _counts() -> list[Boot]:
    """The CPU counts at which something changes: one; a few; a second cluster (17); a second redistributor
    region (124); the most that Atoll is measured at. Debug builds: they check more."""
    return [named(f"direct-{smp}", Build(page=page, debug=True), smp=str(smp))
            for page in PAGES for smp in (1, 2, 17, 124, 160)]


def _firmware() -> list[Boot]:
    """Through U-Boot, as users boot it; and one FIT a page size."""
    boots = [named(f"uboot-{smp}", Build(page=page), smp=str(smp), boot="uboot")
             for page in PAGES for smp in (4, 160)]
    return boots + [named("fit-4", Build(page=page), boot="fit") for page in PAGES]


def _toolchains() -> list[Boot]:
    return [named(f"direct-{smp}", Build(page=page, llvm=True), smp=str(smp))
            for page in PAGES for smp in (4, 160)]


def _accessors() -> list[Boot]:
    return [named(f"direct-{smp}", Build(page=page, percpu="preempt", debug=page == "4k"), smp=str(smp))
            for page, smp in (("4k", 17), ("16k", 4), ("64k", 160))]


def _address_sizes() -> list[Boot]:
    """Small root slots: root syncs happen at run time."""
    return [named(f"direct-{smp}", Build(page="4k", va=39, debug=True), smp=str(smp)) for smp in (4, 17)]


def _cpus() -> list[Boot]:
    """CASES 18 and 19: granule detection, physical address sizes, LSE."""
    old = [named(f"cpu-{cpu}", Build(page=page), cpu=cpu) for page, cpu in (("4k", "cortex-a53"),
                                                                            ("64k", "cortex-a57"))]
    new = [named(f"cpu-{cpu.split('=')[0].replace(',', '-no-')}", Build(page=page), cpu=cpu)
           for cpu in ("neoverse-n1", "max", "max,lpa2=off") for page in PAGES]
    lse = [named("cpu-cortex-a76", Build(page=page, debug=True), cpu="cortex-a76") for page in ("4k", "64k")]
    far = [named("cpu-cortex-a76-160", Build(page="4k"), cpu="cortex-a76", smp="160")]
    return old + new + lse + far


def _refusals() -> list[Boot]:
    """A CPU without the granule walks the tables as if they had another one, so the kernel must not get further than
    the message."""
    granule = PAGE_BYTES["16k"] // 1024
    message = rf"^atoll: this CPU has no {granule}K granule \(ID_AA64MMFR0_EL1\.TGran{granule} = \d+\); stopped$"
    boots = [("cortex-a53", "direct"), ("cortex-a57", "direct"), ("cortex-a72", "direct"), ("a64fx", "direct"),
             ("cortex-a72", "uboot")]
    return [named(f"refusal-{cpu}" if loader == "direct" else f"refusal-{loader}", Build(page="16k"), cpu=cpu,
                  boot=loader, check=Check.MESSAGE, says=(message,)) for cpu, loader in boots]


def _outside() -> list[Boot]:
    return [named("outside-160", Build(page=page), smp="160", command_line="run=selftest", check=Check.OUTSIDE)
            for page in PAGES]


def _panics() -> list[Boot]:
    """CASES 47 and 48. Each way into the report: a call, an abort, and the emergency stack of another CPU than the
    boot CPU. And each state of the machine that may be in its way: all CPUs panic together, the others mask IRQs (the
    NMI of either GIC, and of none), the report itself faults, the frame chain is corrupt, the console is held."""
    def panic(name: str, page: str, command: str, report: Panic, **machine: object) -> Boot:
        return named(name, Build(page=page, debug=True), command_line=f'run="{command}"', check=Check.PANIC,
                      panic=report, **machine)

    def overflow(page: str, stack_bytes: int) -> Boot:
        message = (r"kernel stack overflow: sp 0x[0-9a-f]+ (is \d{1,5} bytes below|has \d{1,3} bytes left of) "
                   rf"its stack of {stack_bytes} bytes")
        return panic("panic-overflow", page, "panic overflow 3", Panic(message, "overflow_stack", cpu=3))

    def form(name: str, function: str, message: str = "", **report: object) -> Panic:
        return Panic(message or f"requested by the monitor's `panic {name}`", function, **report)

    fault = Panic(r"data abort, current EL: translation fault at level \d, write, at 0x[0-9a-f]+ \(kernel stacks\)",
                  "panic_fault", details=(r"at (0x[0-9a-f]+) \((.|\n)*\n  esr 0x960000[0-9a-f]{2}  far \1\n",))
    together = form("together", "panic_together", cpu=None,
                    message="requested on all CPUs at once by the monitor's `panic together`")
    masked = form("masked", "panic_masked")
    out_of_reach = form("masked", "panic_masked", stops=False,
                        details=(r"\n  not stopped: 1 2 3; they mask IRQs, and this interrupt controller keeps FIQs",))
    nested = form("nested", "", message=r"requested by the monitor's `panic nested`, \{\}",
                  nested=r"data abort, current EL: translation fault at level \d, read, at 0x[0-9a-f]+ "
                         r"\(kernel stacks\)")
    chain = form("chain", "panic_chain", details=(r"first:\n(  0x.*\n){2,4}panic: end of report$",))
    return [
        panic("panic", "4k", "panic", Panic("requested by the monitor's `panic`", "panic_command")),
        panic("panic-fault", "4k", "panic fault", fault),
        overflow("4k", 16 * 1024),
        overflow("64k", 64 * 1024),
        panic("panic-together", "4k", "panic together", together),
        panic("panic-together-160", "4k", "panic together", together, smp="160"),
        panic("panic-together-secure-160", "4k", "panic together", together, smp="160", options="secure=on"),
        panic("panic-masked", "4k", "panic masked", masked),
        panic("panic-masked-gic2", "64k", "panic masked", masked, gic="2"),
        panic("panic-masked-secure", "16k", "panic masked", out_of_reach, options="secure=on"),
        panic("panic-masked-160", "4k", "panic masked", masked, smp="160"),
        panic("panic-nested", "4k", "panic nested", nested),
        panic("panic-chain", "4k", "panic chain", chain),
        panic("panic-locked", "4k", "panic locked", form("locked", "panic_locked")),
    ]


def _debugger() -> list[Boot]:
    """docs/debugging.md, at every page size: attached at the prompt, and from before the first instruction."""
    return [boot for page in PAGES for boot in (
        named("gdb-prompt", Build(page=page, debug=True), command_line="", check=Check.DEBUGGER),
        named("gdb-reset", Build(page=page, debug=True), extra=("-S",), command_line='run="panic overflow 3"',
               check=Check.DEBUGGER))]


def boots() -> list[Boot]:
    """All of them. Names are unique: they name the logs."""
    every = (_counts() + _firmware() + _toolchains() + _accessors() + _address_sizes() + _cpus() + _refusals()
             + _outside() + _panics() + _debugger() + cases.boots())
    assert len({boot.name for boot in every}) == len(every)
    return every
