"""libFuzzer for a while: `make fuzz MINUTES=n`, or `python3 -m tests.fuzz.search --minutes N TARGET…`.

All targets run side by side. What they learn stays in build/fuzz/corpus/, so that a later run goes on where this one
ended. An input that breaks something is kept in build/fuzz/crashes/, with the command that repeats it.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.qemu.build import BUILD, ROOT
from tests.qemu.machine import shrink

FUZZ = BUILD / "fuzz"
CRASHES = FUZZ / "crashes"
_PROGRESS_SECONDS = 5.0
_GRACE_SECONDS = 60.0  # what starting, and ending, may take beside the time asked for
_INPUT_SECONDS = 10    # libFuzzer's -timeout: a run that takes longer is one that hangs

_STATUS = re.compile(r"^#(\d+)\s.*?cov: (\d+) .*?corp: (\d+)/")
_REASON = re.compile(r"^(invariant: .*|.*: runtime error: .*|.*ERROR: (AddressSanitizer|libFuzzer): .*)$", re.MULTILINE)

_COMMAND_LINES = ("run=selftest,poweroff selftest=percpu* maxcpus=4", 'run="ptdump 3,poweroff" mem=512M lse=off',
                  "earlycon=pl011,mmio32,0x9000000 mem=1T -- rest", '"mem=1G" maxcpus=0x10 unknown unknown=1')
_KEYS = ("help\r", "take a,b ,take\x08\x7f c\n", "take this\x15help\r\n\x03take \t x")


@dataclass
class Search:
    """One target at work."""

    target: str
    process: subprocess.Popen[bytes]
    log: Path
    began: float

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def status(self) -> str:
        found = [match for line in self.text().splitlines()[-200:] if (match := _STATUS.match(line))]
        if not found:
            return f"{self.target}: starting"
        runs, edges, inputs = found[-1].groups()
        return f"{self.target}: {runs} runs, {edges} edges, {inputs} inputs"


def write_seeds(target: str) -> Path:
    """Replaces the folder that the search begins with: every tree that the tests have, or texts."""
    folder = FUZZ / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    if target == "device_tree":
        for tree in sorted((BUILD / "dtb").glob("*.dtb")):
            (folder / tree.stem).write_bytes(shrink(tree.read_bytes()))
    else:
        for number, text in enumerate(_COMMAND_LINES if target == "command_line" else _KEYS):
            (folder / str(number)).write_text(text, newline="")
    return folder


def start(target: str, seconds: int) -> Search:
    corpus = FUZZ / "corpus" / target
    for folder in (corpus, CRASHES):
        folder.mkdir(parents=True, exist_ok=True)
    longest = 1 << 17 if target == "device_tree" else 1 << 12
    log = FUZZ / f"{target}.log"
    command = [str(FUZZ / f"{target}_fuzz"), f"-max_total_time={seconds}", f"-max_len={longest}",
               f"-timeout={_INPUT_SECONDS}", f"-artifact_prefix={CRASHES}/{target}-", "-print_final_stats=1",
               str(corpus), str(write_seeds(target))]
    with open(log, "wb") as output:
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *command], cwd=ROOT,
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    return Search(target, process, log, time.time())


def verdict(search: Search) -> list[str]:
    """What is wrong; nothing for a search that found nothing."""
    if search.process.returncode == 0:
        return []
    reason = _REASON.search(search.text())
    problems = [f"{search.target}: {reason[0].strip() if reason else f'status {search.process.returncode}'} "
                f"(log {search.log.relative_to(ROOT)})"]
    for kept in sorted(CRASHES.glob(f"{search.target}-*")):
        if kept.stat().st_mtime >= search.began:
            again = [f"build/fuzz/{search.target}_fuzz", str(kept.relative_to(ROOT))]
            problems.append(f"  again: {shlex.join(again)}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("targets", nargs="+")
    arguments = parser.parse_args()

    seconds = max(1, round(arguments.minutes * 60))
    searches = [start(target, seconds) for target in arguments.targets]
    began = time.monotonic()
    next_progress = began + _PROGRESS_SECONDS
    while any(search.process.poll() is None for search in searches):
        time.sleep(0.2)
        now = time.monotonic()
        if now > began + seconds + _GRACE_SECONDS:
            for search in searches:
                search.process.kill()
        if now > next_progress:
            print(f"  {now - began:4.0f} s  " + "; ".join(search.status() for search in searches), flush=True)
            next_progress = now + _PROGRESS_SECONDS
    failed = 0
    for search in searches:
        search.process.wait()
        problems = verdict(search)
        failed += bool(problems)
        print("\n".join(problems) if problems else f"{search.status()}: nothing found")
    print(f"fuzz: {len(searches) - failed} of {len(searches)} targets found nothing in {arguments.minutes:g} minutes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
