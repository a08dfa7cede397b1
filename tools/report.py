"""Writes the report page: the comparison, its plots, and every figure with the command that made it.

One self-contained HTML file made from the metrics file only. Figures that are not there are listed on the
page as missing; they do not stop it from being written.
"""

import argparse
import html
import pathlib

from tools.compare import ATOMIC, comparison
from tools import metrics
from tools.figures import ACCESSORS, OPERATIONS, PAGES, Figures
from tools.plots import SERIES_AT_MOST, BarChart

OUTPUT = metrics.PATH.with_name("index.html")
STYLE = pathlib.Path(__file__).with_name("report.css")
RECORD_FIELDS = ("metric", "value", "unit", "command", "at")


def shown(value):
    if value is None:
        return "–"
    return f"{value:,.0f}".replace(",", " ") if float(value).is_integer() else f"{value:,.3g}".replace(",", " ")


def table(caption, head, rows):
    """Every cell but a row's first is a number or text to be shown as it is."""
    cells = "".join(f'<th scope="col">{html.escape(str(h))}</th>' for h in head)
    body = "".join(
        f'<tr><th scope="row">{html.escape(str(row[0]))}</th>'
        + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row[1:]) + "</tr>\n"
        for row in rows
    )
    return (f'<div class="scroll"><table><caption>{html.escape(caption)}</caption>\n'
            f"<thead><tr>{cells}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n")


def figure(title, explanation, chart):
    """A plot with its numbers below it, which are also its text alternative."""
    try:
        svg = chart.svg()
    except FileNotFoundError:
        svg = "<p>No plot: gnuplot is not installed.</p>"
    if svg is None:
        return f"<section><h2>{html.escape(title)}</h2><p>No figures yet.</p></section>\n"
    rows = [[category, *map(shown, row)] for category, row in zip(chart.categories, chart.values)]
    numbers = table(f"{title}, {chart.unit}", ["", *chart.series], rows)
    return (f"<section><h2>{html.escape(title)}</h2>\n<p>{html.escape(explanation)}</p>\n<figure>{svg}\n"
            f"<figcaption><details><summary>The numbers</summary>{numbers}</details></figcaption></figure></section>\n")


def text_size(figures):
    values = [[figures.get("text_bytes", page=page, percpu=p, toolchain="gcc") for p in ACCESSORS] for page in PAGES]
    values = [[None if v is None else v / 1024 for v in row] for row in values]
    chart = BarChart("text_size", "KiB of .text", [p.upper() for p in PAGES], list(ACCESSORS), values)
    return figure("Kernel text by page size and accessor",
                  "The kernel without debug checks, selftests and probes; both from the same sources.", chart)


def operations(figures, page):
    steps = [(op, "llsc") for op in OPERATIONS] + [(op, "lse") for op in ATOMIC]
    values = [[figures.get("op_instructions", page=page, percpu=p, op=op, form="pointer", atomics=atomics)
               for p in ACCESSORS] for op, atomics in steps]
    names = [f"{op} LSE" if atomics == "lse" else op for op, atomics in steps]
    chart = BarChart("operations", "instructions", names, list(ACCESSORS), values)
    return figure("Instructions per operation",
                  f"A 64-bit this_cpu operation on a per-CPU pointer, counted in the disassembly ({page.upper()} "
                  "pages). NOPs that patching leaves behind are not counted.", chart)


def stage_durations(figures, page):
    """({smp: {stage: ms}}, stages in boot order). `boot_stage_ms` counts from the kernel's entry, so a stage
    lasts from the end of the one before it."""
    by_smp = {}
    for record in figures.all("boot_stage_ms", page=page, boot="direct"):
        by_smp.setdefault(int(record["smp"]), {})[record["stage"]] = record["value"]
    order = []
    for smp in sorted(by_smp):
        ends = sorted(by_smp[smp].items(), key=lambda item: item[1])
        order += [stage for stage, _ in ends if stage not in order]
        starts = [0, *(end for _, end in ends)]
        by_smp[smp] = {stage: end - start for (stage, end), start in zip(ends, starts)}
    return by_smp, order


def boot_timeline(figures, page):
    by_smp, order = stage_durations(figures, page)
    longest = sorted(order, key=lambda stage: -max(d.get(stage, 0) for d in by_smp.values()))
    kept = [s for s in order if s in longest[:SERIES_AT_MOST - 1]] if len(order) > SERIES_AT_MOST else order
    series = kept if kept == order else [*kept, "all others"]
    values = []
    for smp in sorted(by_smp):
        row = [by_smp[smp].get(stage) for stage in kept]
        if kept != order:
            row.append(sum(ms for stage, ms in by_smp[smp].items() if stage not in kept))
        values.append(row)
    chart = BarChart(f"boot_{page}", "ms since entry", [f"{smp}" for smp in sorted(by_smp)], series, values,
                     across="CPUs", stacked=True)
    return figure(f"Boot timeline by CPU count, {page.upper()} pages",
                  "From the kernel's entry to its first command, booted directly; one column for each number of CPUs.",
                  chart)


def table_memory(figures):
    values = [[figures.get("pagetable_bytes_per_cpu", page=page)] for page in PAGES]
    values = [[None if v is None else v / 1024 for v in row] for row in values]
    chart = BarChart("table_memory", "KiB for each CPU", [p.upper() for p in PAGES], ["private page tables"], values)
    return figure("Page-table memory per CPU", "What a CPU's own roots and window tables take.", chart)


def summary(figures, smp):
    result = comparison(figures, smp)
    rows = [[label.strip(), *(cells or ("",) * len(PAGES))] for label, cells in result.rows]
    out = table(f"Page sizes compared, {smp} CPUs", ["", *(p.upper() for p in PAGES)], rows)
    if result.failures:
        out += "<h3>Not as promised</h3><ul>" + "".join(f"<li>{html.escape(f)}</li>" for f in result.failures) + "</ul>"
    return out


def missing(figures):
    names = list(dict.fromkeys(figures.missing))
    if not names:
        return ""
    items = "".join(f"<li><code>{html.escape(name)}</code></li>" for name in names)
    return f"<section><h2>Missing figures</h2><p>{len(names)} figures were not found.</p><ul>{items}</ul></section>\n"


def all_figures(figures):
    rows = []
    for record in sorted(figures.records, key=lambda r: (r["metric"], str(sorted(r.items(), key=str)))):
        keys = ", ".join(f"{k}={v}" for k, v in record.items() if k not in RECORD_FIELDS)
        rows.append([record["metric"], keys, shown(record["value"]), record.get("unit", ""), record.get("command", "")])
    body = table("Every published figure", ["metric", "keys", "value", "unit", "made by"], rows)
    return f"<section><h2>All figures</h2><details><summary>{len(rows)} records</summary>{body}</details></section>\n"


def page(figures, smp):
    newest = max((r.get("at", "") for r in figures.records), default="")
    count = len(figures.records)
    stamp = f"The newest of its {count} figures was made at {newest}." if newest else "It has no figures yet."
    overview = summary(figures, smp)
    sections = [text_size(figures), operations(figures, PAGES[0]), *(boot_timeline(figures, p) for p in PAGES),
                table_memory(figures), missing(figures), all_figures(figures)]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Atoll: per-CPU page tables compared</title>
<style>
{STYLE.read_text(encoding="utf-8")}</style>
</head>
<body>
<main>
<h1>Atoll: per-CPU page tables compared</h1>
<p>Every CPU runs on its own kernel page table, so a per-CPU variable is addressed like a plain global
(<code>local</code>). Compared with it: an offset register used with preemption off (<code>preempt</code>).
{html.escape(stamp)} Times are of QEMU's TCG on the host that ran it and say nothing about hardware;
instruction counts and sizes hold for any.</p>
{overview}
{"".join(sections)}</main>
</body>
</html>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metrics", type=pathlib.Path, default=metrics.PATH)
    parser.add_argument("--out", type=pathlib.Path, default=OUTPUT)
    parser.add_argument("--smp", type=int, default=160, help="the CPU count of the comparison (default 160)")
    arguments = parser.parse_args()
    figures = Figures(metrics.load(arguments.metrics))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(page(figures, arguments.smp), encoding="utf-8")
    print(f"report: {arguments.out} ({len(figures.records)} figures, {len(set(figures.missing))} missing)")


if __name__ == "__main__":
    main()
