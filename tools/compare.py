"""Prints what `make compare` is for: one table over the three page sizes, made from the metrics file only.

Fails (status 1) if a CPU did not come online, a selftest failed, a figure is missing, the boot takes too many
times as long as a bare program's, or an operation takes more instructions than the design promises.
"""

import argparse
import pathlib
import sys

from tools import metrics
from tools.figures import ACCESSORS, FLOOR_RATIO_LIMITS, OPERATIONS, PAGES, Figures
from tools.percpu_sites import PLAIN, REQUIRED

ATOMIC = tuple(op for op in OPERATIONS if op not in PLAIN)


class Table:
    """Rows of text, one cell a page size, and what was found wrong on the way."""

    def __init__(self, figures, smp):
        self.figures = figures
        self.smp = smp
        self.rows = []
        self.failures = []

    def row(self, label, cell):
        """`cell(page)` gives text, or None where a figure is missing."""
        self.rows.append((label, [cell(page) or "missing" for page in PAGES]))

    def heading(self, text):
        self.rows.append((text, None))

    def fail(self, message):
        self.failures.append(message)

    def text(self):
        label_width = max(len(label) for label, cells in self.rows if cells)
        width = max(len(c) for _, cells in self.rows if cells for c in cells) + 2
        lines = [" " * label_width + "".join(page.upper().rjust(width) for page in PAGES)]
        for label, cells in self.rows:
            lines.append(label.ljust(label_width) + "".join(c.rjust(width) for c in cells) if cells else f"\n{label}")
        return "\n".join(lines)


def label(op, atomics):
    if op not in ATOMIC:
        return f"  {op}"
    return f"  {op}, LSE" if atomics == "lse" else f"  {op}, LL/SC"


def grouped(number):
    return f"{number:,.0f}".replace(",", " ")


def add_boots(table):
    need, smp = table.figures.need, table.smp

    def of_both(cell):
        """A cell for each accessor's boot, side by side."""
        def text(page):
            cells = [cell(page, percpu) for percpu in ACCESSORS]
            return None if None in cells else " : ".join(cells)
        return text

    def online(page, percpu):
        count = need("cpus_online", page=page, percpu=percpu, smp=smp, boot="uboot")
        if count is None:
            return None
        if count != smp:
            table.fail(f"{page}, {percpu}: {count:.0f} of {smp} CPUs online")
        return f"{count:.0f}/{smp}"

    def selftests(page, percpu):
        passed, failed = (need(metric, page=page, percpu=percpu, smp=smp, boot="uboot")
                          for metric in ("selftests_passed", "selftests_failed"))
        if passed is None or failed is None:
            return None
        if failed or not passed:
            table.fail(f"{page}, {percpu}: {passed:.0f} selftests passed, {failed:.0f} failed")
        return f"{passed:.0f}/{failed:.0f}"

    def seconds(page, percpu):
        value = need("boot_seconds", page=page, percpu=percpu, smp=smp, boot="uboot")
        return None if value is None else f"{value:.2f}"

    def floor_ratio(boot):
        def text(page):
            value = need("floor_ratio", page=page, percpu="local", smp=smp, boot=boot)
            if value is None:
                return None
            limit = FLOOR_RATIO_LIMITS[boot]
            if value > limit:
                table.fail(f"{page}, {boot}: start to power-off takes {value:.3f} times a bare program's, not {limit}")
            return f"{value:.2f}x"
        return text

    def table_bytes(page):
        value = need("pagetable_bytes_per_cpu", page=page, percpu="local", smp=smp)
        return None if value is None else grouped(value)

    table.heading("booted through U-Boot, local : preempt")
    table.row("  CPUs online", of_both(online))
    table.row("  selftests passed/failed", of_both(selftests))
    table.row("  seconds from start to all online", of_both(seconds))
    table.heading("local")
    table.row("  start to power-off / a bare program's, direct", floor_ratio("direct"))
    table.row("  start to power-off / a bare program's, U-Boot", floor_ratio("uboot"))
    table.row("  page-table bytes per CPU", table_bytes)


def add_text(table):
    def size(percpu):
        return lambda page: table.figures.need("text_bytes", page=page, percpu=percpu, toolchain="gcc")

    def shown(percpu):
        def cell(page):
            value = size(percpu)(page)
            return None if value is None else grouped(value)
        return cell

    def saved(page):
        local, preempt = (table.figures.get("text_bytes", page=page, percpu=p, toolchain="gcc") for p in ACCESSORS)
        if not local or not preempt:
            return None
        return f"{grouped(preempt - local)} ({100 * (preempt - local) / preempt:.1f} %)"

    def sites(page):
        counts = [table.figures.need("op_sites", page=page, percpu=p, op="all", toolchain="gcc") for p in ACCESSORS]
        return None if None in counts else " : ".join(map(grouped, counts))

    table.heading(".text bytes, without debug checks, selftests and probes")
    for percpu in ACCESSORS:
        table.row(f"  {percpu}", shown(percpu))
    table.row("  saved by local", saved)
    table.row("  per-CPU operations in it, local : preempt", sites)


def add_operations(table):
    figures = table.figures

    def cell(op, atomics):
        def text(page):
            counts = [figures.need("op_instructions", page=page, percpu=p, op=op, form="pointer", atomics=atomics)
                      for p in ACCESSORS]
            if None in counts:
                return None
            promised = REQUIRED["local"][op][atomics == "lse"]
            if counts[0] > promised:
                table.fail(f"{page}: {op} ({atomics}) takes {counts[0]:.0f} instructions, not {promised}")
            nops = [figures.get("op_nops", page=page, percpu=p, op=op, form="pointer", atomics=atomics)
                    for p in ACCESSORS]
            return " : ".join(f"{c:.0f}" + (f"+{n:.0f}" if n else "") for c, n in zip(counts, nops))
        return text

    def sites(op, atomics):
        def text(page):
            number = figures.need("op_sites", page=page, percpu="local", op=op, toolchain="gcc")
            spread = [figures.need("site_instructions", page=page, percpu="local", op=op, quantile=quantile,
                                   atomics=atomics) for quantile in ("min", "median", "max")]
            if None in (number, *spread):
                return None
            return f"{number:.0f} x " + " / ".join(f"{value:g}" for value in spread)
        return text

    steps = [(op, "llsc") for op in OPERATIONS] + [(op, "lse") for op in ATOMIC]
    table.heading("instructions per 64-bit operation on a pointer, local : preempt (+ NOPs left by patching)")
    for op, atomics in steps:
        table.row(label(op, atomics), cell(op, atomics))
    table.heading("at the kernel's own sites under local, number x instructions min / median / max")
    # The kernel need not use every operation.
    used = {record["op"] for record in figures.all("site_instructions", percpu="local")} or OPERATIONS
    for op, atomics in steps:
        if op in used:
            table.row(label(op, atomics), sites(op, atomics))


def comparison(figures, smp):
    """The filled table; what it lacks is in `figures.missing`."""
    table = Table(figures, smp)
    add_boots(table)
    add_text(table)
    add_operations(table)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metrics", type=pathlib.Path, default=metrics.PATH)
    parser.add_argument("--smp", type=int, default=160, help="the CPU count that was booted (default 160)")
    arguments = parser.parse_args()

    figures = Figures(metrics.load(arguments.metrics))
    table = comparison(figures, arguments.smp)
    print(table.text())

    problems = table.failures + [f"missing: {name}" for name in dict.fromkeys(figures.missing)]
    if problems:
        print("\n" + "\n".join(f"compare: {problem}" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
