"""One QEMU process: started, watched for hangs, and reaped by its own process id.

A `Qemu` is a context manager. Its console is captured line by line with host timestamps and kept in a
log file. Whatever ends the `with` block (a result, an exception, a signal, the death of this Python
process) ends QEMU too.
"""

from __future__ import annotations

import enum
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Optional

from tests.qemu.qmp import QmpClient

_REAP_SECONDS = 10.0


@dataclass(frozen=True)
class Limits:
    """When a run counts as hung. Never a bound on performance: ten times what a loaded host needs.

    `silence` is the longest pause in the console's output, `whole` the longest run, in seconds.
    """

    silence: float
    whole: float

    @staticmethod
    def for_cpus(cpus: int) -> "Limits":
        """Each virtual CPU adds to what host starvation can cost."""
        return Limits(silence=60.0 + cpus, whole=120.0 + 3.0 * cpus)


class Ending(enum.Enum):
    """How a run came to its end."""

    EXITED = "exited"
    SILENT = "hung: no output"
    TOO_LONG = "hung: time is up"
    STOPPED = "stopped by the harness"


@dataclass(frozen=True)
class Line:
    """One console line without its line end; `seconds` is the host time since QEMU's start."""

    seconds: float
    text: str


@dataclass(frozen=True)
class Outcome:
    """A finished run. `status` is QEMU's exit status, None where the harness had to end it."""

    ending: Ending
    status: Optional[int]
    seconds: float
    lines: tuple[Line, ...]
    log: Path

    def texts(self) -> list[str]:
        return [line.text for line in self.lines]


class Hang(Exception):
    """A line that was waited for did not come: QEMU hung, or ended first."""


class Qemu:
    """`with Qemu(arguments, log, limits) as qemu:`; `arguments` starts with the program's name.

    With `qmp=True` a QMP server is opened on a private UNIX socket; with `gdb=True` a gdb server, whose
    path is `gdb_socket`. The guest is not stopped by either until a client asks. `typed` waits on the console from
    the start, for whoever reads first.
    """

    def __init__(self, arguments: list[str], log: Path, limits: Limits, *, qmp: bool = False,
                 gdb: bool = False, typed: str = "") -> None:
        self._limits = limits
        self._typed = typed
        self.log = log
        # Only where needed: a harness that is killed cannot remove it.
        self._sockets = tempfile.TemporaryDirectory(prefix="atoll-qemu-") if qmp or gdb else None
        directory = Path(self._sockets.name if self._sockets else "/nonexistent")
        self._qmp_socket, self.gdb_socket = directory / "qmp", directory / "gdb"
        self._qmp_client: Optional[QmpClient] = None
        self._arguments = list(arguments)
        if qmp:
            self._arguments += ["-qmp", f"unix:{self._qmp_socket},server=on,wait=off"]
        if gdb:
            self._arguments += ["-chardev", f"socket,id=gdb,path={self.gdb_socket},server=on,wait=off",
                                "-gdb", "chardev:gdb"]
        self._changed = threading.Condition()
        self._lines: list[Line] = []
        self._ended = False
        self._ending = Ending.EXITED
        self._seconds: Optional[float] = None

    def __enter__(self) -> "Qemu":
        self.log.parent.mkdir(parents=True, exist_ok=True)
        # setpriv execs QEMU in place (same pid), with the kernel's promise to kill it if the thread
        # that started it dies: the one case that no handler here can cover.
        command = ["setpriv", "--pdeathsig", "KILL", "--", *self._arguments]
        self._start = time.monotonic()
        self._last_output = self._start
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT)
        _running[self._process.pid] = self
        self._reader = threading.Thread(target=self._read, name=f"console-{self._process.pid}")
        self._reader.start()
        if self._typed:
            self.write(self._typed)
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._end(Ending.STOPPED)
        if self._qmp_client is not None:
            self._qmp_client.close()
        if self._sockets is not None:
            self._sockets.cleanup()

    @property
    def qmp(self) -> QmpClient:
        """The connected QMP client; connects on first use."""
        if self._qmp_client is None:
            self._qmp_client = QmpClient(self._qmp_socket)
        return self._qmp_client

    def write(self, text: str) -> None:
        """Types `text` on the guest's console."""
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode())
        self._process.stdin.flush()

    def lines(self) -> list[Line]:
        with self._changed:
            return list(self._lines)

    def wait_for(self, pattern: str, *, start: int = 0) -> Line:
        """The first line from index `start` on that `pattern` is found in. Raises `Hang`."""
        compiled = re.compile(pattern)
        seen = start
        while True:
            with self._changed:
                fresh, ended = self._lines[seen:], self._ended
            for line in fresh:
                if compiled.search(line.text):
                    return line
            seen += len(fresh)
            if ended:
                raise Hang(f"QEMU ended before a line matched {pattern!r}; see {self.log}")
            hang = self._hang()
            if hang is not None:
                raise Hang(f"{hang.value} before a line matched {pattern!r}; see {self.log}")
            self._wait(seen)

    def run_to_end(self) -> Outcome:
        """Waits until QEMU exits by itself or hangs, and reaps it."""
        hang: Optional[Ending] = None
        while hang is None:
            with self._changed:
                if self._ended:
                    break
                seen = len(self._lines)
            hang = self._hang()
            self._wait(seen)
        return self._finish(hang or Ending.EXITED)

    def stop(self) -> Outcome:
        """Ends QEMU now."""
        return self._finish(Ending.STOPPED)

    def is_running(self) -> bool:
        return self._process.poll() is None

    def abandon(self) -> None:
        """From a signal handler: kills QEMU and leaves nothing behind, without waiting for a thread."""
        self._process.kill()
        if self._sockets is not None:
            self._sockets.cleanup()

    def _wait(self, seen: int) -> None:
        with self._changed:
            if len(self._lines) == seen and not self._ended:
                self._changed.wait(timeout=0.5)

    def _hang(self) -> Optional[Ending]:
        now = time.monotonic()
        if now - self._last_output > self._limits.silence:
            return Ending.SILENT
        return Ending.TOO_LONG if now - self._start > self._limits.whole else None

    def _finish(self, ending: Ending) -> Outcome:
        self._end(ending)
        status = self._process.returncode if self._ending is Ending.EXITED else None
        assert self._seconds is not None
        return Outcome(self._ending, status, self._seconds, tuple(self.lines()), self.log)

    def _end(self, ending: Ending) -> None:
        """Reaps the process by its pid; idempotent, and the first ending counts."""
        if self._seconds is not None:
            return
        self._ending = ending
        if ending is Ending.EXITED:
            try:
                self._process.wait(_REAP_SECONDS)  # its console is closed; only the exit is left
            except subprocess.TimeoutExpired:
                self._ending = Ending.TOO_LONG
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._seconds = time.monotonic() - self._start
        _running.pop(self._process.pid, None)
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass  # what was typed last was never read
        self._reader.join()
        self._process.stdout.close()

    def _read(self) -> None:
        """Thread: splits the console into lines until QEMU closes it. A last partial line counts."""
        assert self._process.stdout is not None
        console = self._process.stdout.fileno()
        pending = b""
        with open(self.log, "wb") as log:
            while chunk := os.read(console, 65536):
                now = time.monotonic()
                log.write(chunk)
                log.flush()
                *whole, pending = (pending + chunk).split(b"\n")
                with self._changed:
                    self._last_output = now
                    self._lines += [_line(now - self._start, text) for text in whole]
                    self._changed.notify_all()
        with self._changed:
            if pending:
                self._lines.append(_line(time.monotonic() - self._start, pending))
            self._ended = True
            self._changed.notify_all()


_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_running: dict[int, Qemu] = {}


def _line(seconds: float, raw: bytes) -> Line:
    """Without the carriage return and the terminal escapes that U-Boot prints."""
    text = _ESCAPES.sub("", raw.decode("utf-8", "replace")).rstrip("\r")
    return Line(seconds, text)


def reap_on_signals() -> None:
    """For a program's main: a polite signal ends every QEMU of this process, then the process."""

    def handler(number: int, _frame: Optional[FrameType]) -> None:
        for qemu in list(_running.values()):
            qemu.abandon()
        sys.stderr.write(f"\nended by signal {number}\n")
        sys.stderr.flush()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handler)
