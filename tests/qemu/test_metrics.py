"""Unit tests of tools/metrics.py."""

import json
import tempfile
import unittest
from pathlib import Path

from tools import metrics


class Metrics(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "report/metrics.json"

    def test_no_file_is_no_records(self) -> None:
        self.assertEqual(metrics.load(self.path), [])

    def test_same_identity_replaces(self) -> None:
        metrics.update([metrics.record("boot_seconds", 2.0, "s", page="4k", smp=160, spread=0.5)], self.path)
        metrics.update([metrics.record("boot_seconds", 1.0, "s", smp=160, page="4k")], self.path)
        records = metrics.load(self.path)
        self.assertEqual([item["value"] for item in records], [1.0])
        self.assertNotIn("spread", records[0])

    def test_other_keys_and_metrics_stay(self) -> None:
        metrics.update([metrics.record("boot_seconds", 1.0, "s", page="4k"),
                        metrics.record("cpus_online", 160, "count", page="4k")], self.path)
        metrics.update([metrics.record("boot_seconds", 2.0, "s", page="16k")], self.path)
        records = metrics.load(self.path)
        self.assertEqual(len(records), 3)
        self.assertEqual(metrics.select(records, "boot_seconds", page="4k")[0]["value"], 1.0)

    def test_fields(self) -> None:
        item = metrics.record("boot_seconds", 1.0, "s", page="4k")
        self.assertEqual(set(item), {"metric", "value", "unit", "command", "at", "page"})
        self.assertIsInstance(json.loads(json.dumps(item))["value"], float)

    def test_bad_records_are_refused(self) -> None:
        with self.assertRaises(ValueError):
            metrics.record("boot_seconds", float("nan"), "s")
        with self.assertRaises(ValueError):
            metrics.record("boot_seconds", 1.0, "s", at="now")

    def test_a_damaged_file_is_not_overwritten(self) -> None:
        self.path.parent.mkdir(parents=True)
        self.path.write_text('{"metric": "x"}')
        with self.assertRaises(ValueError):
            metrics.update([metrics.record("boot_seconds", 1.0, "s")], self.path)
        self.assertEqual(self.path.read_text(), '{"metric": "x"}')


if __name__ == "__main__":
    unittest.main()
