"""The comparison and the report page from planted figures: what is missing or wrong is said, never hidden."""

import io
import json
import pathlib
import tempfile
import unittest
from contextlib import redirect_stdout
from unittest import mock

from tools import compare, report
from tools.figures import ACCESSORS, OPERATIONS, PAGES, Figures
from tools.percpu_sites import REQUIRED


def planted():
    """One record for every figure that the comparison needs."""
    records = []

    def add(metric, value, **keys):
        records.append({"metric": metric, "value": value, "unit": "x", "command": "make compare",
                        "at": "2026-01-01T00:00:00+00:00", **keys})

    for page in PAGES:
        for percpu in ACCESSORS:
            boot = {"page": page, "percpu": percpu, "smp": 160, "boot": "uboot"}
            add("cpus_online", 160, **boot)
            add("selftests_passed", 30, **boot)
            add("selftests_failed", 0, **boot)
            add("boot_seconds", 1.25, **boot)
        for how in ("direct", "uboot"):
            add("floor_ratio", 1.1, page=page, smp=160, boot=how)
        add("pagetable_bytes_per_cpu", 24576, page=page, smp=160)
        for smp in (1, 160):
            add("boot_stage_ms", 2, page=page, smp=smp, boot="direct", stage="memory")
            add("boot_stage_ms", 2 + smp, page=page, smp=smp, boot="direct", stage="smp")
        for percpu, extra in zip(ACCESSORS, (0, 18)):
            add("text_bytes", 100000 + 1000 * extra, page=page, percpu=percpu, toolchain="gcc")
            add("op_sites", 70, page=page, percpu=percpu, toolchain="gcc", op="all")
            for op in OPERATIONS:
                add("op_sites", 14, page=page, percpu=percpu, toolchain="gcc", op=op)
                for atomics in ("llsc", "lse") if op in compare.ATOMIC else ("llsc",):
                    count = REQUIRED["local"][op][atomics == "lse"]
                    add("op_instructions", count + extra, page=page, percpu=percpu, op=op, form="pointer",
                        atomics=atomics)
                    for quantile in ("min", "median", "max"):
                        add("site_instructions", 4 + extra, page=page, percpu=percpu, op=op, quantile=quantile,
                            atomics=atomics)
    return records


def set_value(records, value, **keys):
    for record in records:
        if all(record.get(k) == v for k, v in keys.items()):
            record["value"] = value


class FromPlantedFigures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="report-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.records = planted()

    def run_main(self, main, *arguments):
        """(exit status, what was printed) of a tool over the planted records."""
        file = self.folder / "metrics.json"
        file.write_text(json.dumps(self.records), encoding="utf-8")
        printed = io.StringIO()
        with mock.patch("sys.argv", ["tool", "--metrics", str(file), *arguments]), redirect_stdout(printed):
            return main(), printed.getvalue()


class CompareTest(FromPlantedFigures):
    def assert_fails(self, *parts):
        status, text = self.run_main(compare.main)
        self.assertEqual(status, 1)
        for part in parts:
            self.assertIn(part, text)

    def test_complete_figures_pass(self):
        status, text = self.run_main(compare.main)
        self.assertEqual(status, 0, text)
        self.assertIn("18 000 (15.3 %)", text)
        self.assertEqual(text.count("70 : 70"), 3)
        self.assertIn("14 x 4 / 4 / 4", text)
        self.assertEqual(text.count("160/160 : 160/160"), 3)

    def test_cpu_left_out(self):
        set_value(self.records, 159, metric="cpus_online", page="16k", percpu="preempt")
        self.assert_fails("160/160 : 159/160", "16k, preempt: 159 of 160 CPUs online")

    def test_failed_selftest(self):
        set_value(self.records, 1, metric="selftests_failed", page="64k", percpu="local")
        self.assert_fails("64k, local: 30 selftests passed, 1 failed")

    def test_no_selftest_at_all(self):
        set_value(self.records, 0, metric="selftests_passed", page="4k", percpu="local")
        self.assert_fails("4k, local: 0 selftests passed, 0 failed")

    def test_boot_far_above_the_floor(self):
        set_value(self.records, 1.504, metric="floor_ratio", page="64k", boot="direct")
        self.assert_fails("64k, direct: start to power-off takes 1.504 times a bare program's, not 1.5")

    def test_missing_figure_is_named(self):
        self.records = [r for r in self.records if not (r["metric"] == "boot_seconds" and r["page"] == "4k")]
        self.assert_fails("missing: boot_seconds page=4k", "compare:")

    def test_every_figure_is_needed(self):
        for metric in {r["metric"] for r in planted()} - {"boot_stage_ms"}:
            self.records = [r for r in planted() if r["metric"] != metric]
            self.assert_fails(f"missing: {metric}")

    def test_all_sites_do_not_stand_in_for_an_operations(self):
        self.records = [r for r in self.records if r["metric"] != "op_sites" or r["op"] != "xchg"]
        self.assert_fails("missing: op_sites page=4k percpu=local op=xchg")

    def test_operation_longer_than_promised(self):
        set_value(self.records, 5, metric="op_instructions", percpu="local", op="add", atomics="llsc", page="4k")
        self.assert_fails("4k: add (llsc) takes 5 instructions, not 4")

    def test_another_cpu_count_does_not_stand_in(self):
        for record in self.records:
            if record["metric"] == "cpus_online":
                record["smp"] = 4
        self.assert_fails("missing: cpus_online page=4k")


class FiguresTest(unittest.TestCase):
    def test_the_usual_build_comes_first(self):
        figures = Figures([{"metric": "m", "value": 1, "toolchain": "clang"},
                           {"metric": "m", "value": 2, "toolchain": "gcc"}])
        self.assertEqual(figures.get("m"), 2)
        self.assertEqual(figures.get("m", toolchain="clang"), 1)

    def test_need_remembers(self):
        figures = Figures([])
        self.assertIsNone(figures.need("m", page="4k"))
        self.assertEqual(figures.missing, ["m page=4k"])


class ReportTest(FromPlantedFigures):
    def page(self):
        out = self.folder / "index.html"
        self.run_main(report.main, "--out", str(out))
        return out.read_text(encoding="utf-8")

    def test_complete_page(self):
        page = self.page()
        self.assertEqual(page.count("<svg"), 6)
        self.assertNotIn("Missing figures", page)
        self.assertIn("160/160", page)

    def test_nothing_is_fetched(self):
        page = self.page()
        for outside in ('src="', "href=", "@import", "url(", "<script"):
            self.assertNotIn(outside, page)

    def test_colours_follow_the_theme(self):
        page = self.page()
        svgs = page[page.index("<svg"):]
        self.assertNotIn("rgb(", svgs)
        self.assertNotIn("black", svgs)
        self.assertIn("var(--series-2)", svgs)

    def test_missing_figures_are_listed(self):
        self.records = [r for r in self.records if r["metric"] != "text_bytes"]
        page = self.page()
        self.assertIn("Missing figures", page)
        self.assertIn("<code>text_bytes page=4k percpu=local toolchain=gcc</code>", page)

    def test_no_figures_at_all(self):
        self.records = []
        self.assertIn("It has no figures yet.", self.page())

    def test_stages_last_from_end_to_end(self):
        by_smp, order = report.stage_durations(Figures(self.records), "4k")
        self.assertEqual(order, ["memory", "smp"])
        self.assertEqual(by_smp[160], {"memory": 2, "smp": 160})


if __name__ == "__main__":
    unittest.main()
