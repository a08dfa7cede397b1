"""The boots of `make compare`: `python3 -m tests.qemu.compare [--smp 160] [--list-builds]`.

Boots every page size under every accessor through U-Boot with the selftests, then takes boot times against
the floor and a timeline over CPU counts. Writes build/report/metrics.json. The exit status is 1 if a
boot failed; times are judged with all other figures by tools/compare.py.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable

from tests.qemu import boot_time, checks, console
from tests.qemu.build import DEFAULT_CPU, Build
from tests.qemu.ktap import Status
from tests.qemu.matrix import PAGES, Boot
from tests.qemu.qemu import Line, reap_on_signals
from tools import metrics

ACCESSORS = ("local", "preempt")
TIMELINE_CPUS = (4, 16, 64)
_TIMELINE_RUNS = 3

# The commands that print figures come before the selftests, which install root slots on purpose.
RUN = "run=percpu,mem,selftest,poweroff"

# Figures that the kernel prints itself: metric, further keys, unit, line.
_PRINTED: tuple[tuple[str, dict[str, str | int], str, str], ...] = (
    ("pagetable_bytes_per_cpu", {}, "bytes", r"^page tables per CPU: (\d+) bytes at most$"),
    ("root_syncs_runtime", {"prefill": "on"}, "count", r"^root syncs at run time:.* \(in all (\d+)\)$"),
)


def builds() -> list[Build]:
    return [Build(page=page, percpu=percpu) for page in PAGES for percpu in ACCESSORS]


def printed_figures(lines: Iterable[Line], **keys: str | int) -> list[metrics.Record]:
    return [metrics.record(metric, int(match[1]), unit, **own_keys, **keys)
            for metric, own_keys, unit, pattern in _PRINTED
            for line in lines if (match := re.match(pattern, line.text))]


def boot_with_selftests(build: Build, smp: int) -> bool:
    """Boots through U-Boot, publishes counts; whether it passed."""
    result = checks.run(Boot(name=f"compare-{build.name}-uboot-{smp}", build=build, smp=str(smp), boot="uboot",
                             command_line=RUN))
    found = console.online(result.lines)
    keys = {**build.keys(), "smp": smp, "cpu": DEFAULT_CPU[build.page], "boot": "uboot"}
    made = [metrics.record("cpus_online", found[0] if found else 0, "count", **keys),
            metrics.record("selftests_passed", result.count(Status.PASSED), "count", **keys),
            metrics.record("selftests_failed", result.count(Status.FAILED), "count", **keys)]
    if found:
        made.append(metrics.record("boot_seconds", round(found[2], 3), "s", **keys))
    metrics.update(made + printed_figures(result.lines, **keys))
    print(f"{build.name} uboot -smp {smp}: {found[0] if found else 0}/{smp} CPUs online, "
          f"{result.count(Status.PASSED)} selftests passed, {result.count(Status.FAILED)} failed, "
          f"{result.seconds:.1f} s", flush=True)
    for problem in result.problems:
        print(f"  {problem}")
    return not result.problems


def take_time(build: Build, smp: int, boot: str) -> None:
    """Publishes times and stages of one way to boot."""
    timing = boot_time.measure(build, smp, boot)
    metrics.update(boot_time.records(timing, build, smp, boot))
    print(boot_time.describe(timing, build, smp, boot), flush=True)


def take_times(build: Build, smp: int) -> None:
    """Publishes them for all ways, and for fewer CPUs."""
    for boot in boot_time.LIMITS:
        take_time(build, smp, boot)
    for fewer in (cpus for cpus in TIMELINE_CPUS if cpus < smp):
        timing = boot_time.measure(build, fewer, "direct", _TIMELINE_RUNS)
        metrics.update(boot_time.records(timing, build, fewer, "direct"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smp", type=int, default=160)
    parser.add_argument("--list-builds", action="store_true", help="print what to give to `make image`, a line each")
    arguments = parser.parse_args()
    if arguments.list_builds:
        print("\n".join(build.assignments() for build in builds()))
        return 0

    reap_on_signals()
    good = True
    for build in builds():
        good = boot_with_selftests(build, arguments.smp) and good
    for build in builds():
        try:
            if build.percpu == "local":
                take_times(build, arguments.smp)
            else:
                # Through U-Boot alone, which is where the table compares the two.
                take_time(build, arguments.smp, "uboot")
        except boot_time.BootFailed as failure:
            print(failure)
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
