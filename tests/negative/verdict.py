"""What both kinds of negative control share: running make and judging one failure."""

from __future__ import annotations

import collections
import os
import subprocess
import threading

from tests.qemu.build import BUILD, ROOT

_BUILD_SECONDS = 3600.0
LOGS = BUILD / "logs/negative"


class BuildFailed(Exception):
    """A build did not succeed; a planted fault must compile."""


_locks: collections.defaultdict[str, threading.Lock] = collections.defaultdict(threading.Lock)


def make(name: str, *arguments: str) -> None:
    """Builds what is called `name`, one make at a time for each name; the output is kept in
    build/logs/negative/. Raises `BuildFailed` with its last lines."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.build.log"
    # Where `make negative` runs this, its job server and its overrides are not for the builds made here.
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    with _locks[name], open(log, "w") as output:
        status = subprocess.run(["make", "--no-print-directory", *arguments], cwd=ROOT, env=environment,
                                timeout=_BUILD_SECONDS, stdin=subprocess.DEVNULL, stdout=output,
                                stderr=subprocess.STDOUT).returncode
    if status != 0:
        tail = " | ".join(log.read_text(errors="replace").splitlines()[-3:])
        raise BuildFailed(f"make {' '.join(arguments)}: {tail} (see {log.relative_to(ROOT)})")
