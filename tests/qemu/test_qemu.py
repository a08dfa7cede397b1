"""Unit tests of the process handling, with shell scripts in QEMU's place."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from tests.qemu.build import ROOT
from tests.qemu.qemu import Ending, Hang, Limits, Qemu


def is_alive(pid: int) -> bool:
    """A zombie that nobody has reaped counts as alive."""
    return Path(f"/proc/{pid}").exists()


class Process(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.log = Path(directory.name) / "logs/console.log"

    def script(self, text: str, silence: float = 20.0, whole: float = 20.0) -> Qemu:
        return Qemu(["sh", "-c", text], self.log, Limits(silence, whole))

    def test_lines_status_and_log(self) -> None:
        with self.script("printf 'one\\r\\n\\033[7mtwo\\nthree'; exit 3") as qemu:
            outcome = qemu.run_to_end()
        self.assertEqual((outcome.ending, outcome.status), (Ending.EXITED, 3))
        self.assertEqual(outcome.texts(), ["one", "two", "three"])
        self.assertEqual(self.log.read_bytes(), b"one\r\n\033[7mtwo\nthree")

    def test_timestamps(self) -> None:
        with self.script("echo one; sleep 0.3; echo two") as qemu:
            first, second = qemu.run_to_end().lines
        self.assertGreater(second.seconds - first.seconds, 0.25)

    def test_errors_of_qemu_itself_are_kept(self) -> None:
        with self.script("echo bad option >&2; exit 1") as qemu:
            self.assertEqual(qemu.run_to_end().texts(), ["bad option"])

    def test_silence_is_a_hang(self) -> None:
        with self.script("echo one; exec sleep 30", silence=0.3) as qemu:
            outcome = qemu.run_to_end()
        self.assertEqual((outcome.ending, outcome.status), (Ending.SILENT, None))
        self.assertLess(outcome.seconds, 5)

    def test_endless_output_is_a_hang(self) -> None:
        with self.script("while sleep 0.05; do echo x; done", silence=5, whole=0.5) as qemu:
            self.assertEqual(qemu.run_to_end().ending, Ending.TOO_LONG)

    def test_wait_for(self) -> None:
        with self.script("echo one; sleep 0.1; echo two; exec cat") as qemu:
            self.assertEqual(qemu.wait_for("^tw").text, "two")
            qemu.write("typed\n")
            self.assertEqual(qemu.wait_for("typed", start=2).text, "typed")
            self.assertTrue(qemu.is_running())
            self.assertEqual(qemu.stop().ending, Ending.STOPPED)

    def test_wait_for_says_why_it_gives_up(self) -> None:
        with self.script("echo one") as qemu, self.assertRaisesRegex(Hang, "ended before a line matched 'two'"):
            qemu.wait_for("two")
        with self.script("exec sleep 30", silence=0.2) as qemu, self.assertRaisesRegex(Hang, "no output"):
            qemu.wait_for("two")

    def test_reaped_after_an_exception(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            with self.script("echo $$; exec sleep 30") as qemu:
                pid = int(qemu.wait_for(r"\d+").text)
                self.assertTrue(is_alive(pid))
                raise ZeroDivisionError
        self.assertFalse(is_alive(pid))

    def test_dies_with_the_harness(self) -> None:
        """By a signal that can be handled, and by the one that cannot."""
        program = ("import sys; from pathlib import Path\n"
                   "from tests.qemu.qemu import Limits, Qemu, reap_on_signals\n"
                   "reap_on_signals()\n"
                   "with Qemu(['sh', '-c', 'echo $$; exec sleep 30'], Path(sys.argv[1]), Limits(20, 20)) as qemu:\n"
                   "    print(qemu.wait_for('.').text, flush=True)\n"
                   "    qemu.run_to_end()\n")
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number), subprocess.Popen(
                    [sys.executable, "-c", program, str(self.log)], cwd=ROOT, env={**os.environ},
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as harness:
                assert harness.stdout is not None
                pid = int(harness.stdout.readline())
                self.assertTrue(is_alive(pid))
                harness.send_signal(number)
                harness.wait(10)
                deadline = time.monotonic() + 5
                while is_alive(pid) and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertFalse(is_alive(pid))


if __name__ == "__main__":
    unittest.main()
