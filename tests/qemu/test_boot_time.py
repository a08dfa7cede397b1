"""Unit tests of how boot times are taken, with made-up times in QEMU's place."""

import unittest
from pathlib import Path
from unittest import mock

from tests.qemu import boot_time
from tests.qemu.build import Build
from tests.qemu.qemu import Ending, Line, Outcome

ONLINE = Line(0.5, "smp: 4/4 CPUs online in 40 ms")


class Measure(unittest.TestCase):
    def measure(self, floor: list[float], kernel: list[float], line: Line = ONLINE) -> boot_time.Timing:
        """The runs' times one after the other, the last of them for ever."""
        def boot(_machine: object, name: str) -> Outcome:
            times = floor if name.endswith("-floor") else kernel
            seconds = times.pop(0) if len(times) > 1 else times[0]
            lines = () if name.endswith("-floor") else (line, Line(0.6, "boot: memory 5000 us"))
            return Outcome(Ending.EXITED, 0, seconds, lines, Path())
        with mock.patch.object(boot_time, "_boot", boot):
            return boot_time.measure(Build(), 4, "direct")

    def test_the_ratio_is_of_whole_runs(self) -> None:
        timing = self.measure([1.0], [1.2])
        self.assertAlmostEqual(timing.ratio, 1.2)
        self.assertEqual((len(timing.floor), len(timing.kernel)), (boot_time.RUNS, boot_time.RUNS))
        made = {item["metric"]: item["value"] for item in boot_time.records(timing, Build(), 4, "direct")}
        self.assertEqual(made, {"floor_ratio": 1.2, "boot_seconds": 0.5, "boot_stage_ms": 5.0})

    def test_a_noisy_round_is_followed_by_another(self) -> None:
        self.assertEqual(len(self.measure([1.0, 1.7, 1.0], [1.2]).floor), 3 * boot_time.RUNS)

    def test_medians_do_without_the_noise(self) -> None:
        self.assertAlmostEqual(self.measure([1.0], [9.0, 9.0, 9.0, 1.1]).ratio, 1.1)

    def test_a_cpu_left_out_is_no_boot(self) -> None:
        with self.assertRaisesRegex(boot_time.BootFailed, "3 of 4 CPUs"):
            self.measure([1.0], [1.2], Line(0.5, "smp: 3/4 CPUs online in 40 ms"))


if __name__ == "__main__":
    unittest.main()
