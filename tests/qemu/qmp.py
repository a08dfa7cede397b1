"""A client for QEMU's machine protocol (QMP): JSON lines over a UNIX socket."""

from __future__ import annotations

import json
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

_CONNECT_SECONDS = 20.0
_ANSWER_SECONDS = 120.0


class QmpError(Exception):
    """QEMU refused a command, or the connection broke."""


def connect(path: Path) -> socket.socket:
    """Connects to a UNIX socket that QEMU is about to open. Raises `QmpError` after 20 s."""
    deadline = time.monotonic() + _CONNECT_SECONDS
    while True:
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            stream.connect(str(path))
            return stream
        except (FileNotFoundError, ConnectionRefusedError) as error:
            stream.close()
            if time.monotonic() > deadline:
                raise QmpError(f"nobody listens on {path}") from error
            time.sleep(0.02)


class QmpClient:
    """Commands are answered in order; events that come between are dropped."""

    def __init__(self, path: Path) -> None:
        self._socket = connect(path)
        self._socket.settimeout(_ANSWER_SECONDS)
        self._stream = self._socket.makefile("rw", encoding="utf-8", newline="\n")
        self._receive()  # the greeting
        self.execute("qmp_capabilities")

    def close(self) -> None:
        try:
            self._stream.close()
        except BrokenPipeError:
            pass  # QEMU is gone, and with it whoever would read the rest
        self._socket.close()

    def execute(self, command: str, **arguments: Any) -> Any:
        """The command's return value. Raises `QmpError` with QEMU's own words."""
        self._stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._stream.flush()
        while True:
            answer = self._receive()
            if "error" in answer:
                raise QmpError(f"{command}: {answer['error'].get('desc', answer['error'])}")
            if "return" in answer:
                return answer["return"]

    def monitor(self, command: str) -> str:
        """The answer of the human monitor."""
        return str(self.execute("human-monitor-command", **{"command-line": command}))

    def read_physical(self, address: int, size: int) -> bytes:
        """Guest physical memory, as the machine sees it from outside any CPU's MMU."""
        with tempfile.NamedTemporaryFile(prefix="atoll-memory-") as file:
            self.execute("pmemsave", val=address, size=size, filename=file.name)
            data = Path(file.name).read_bytes()
        if len(data) != size:
            raise QmpError(f"pmemsave gave {len(data)} of {size} bytes at {address:#x}")
        return data

    def _receive(self) -> dict[str, Any]:
        line = self._stream.readline()
        if not line:
            raise QmpError("QEMU closed the QMP connection")
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer
