"""Host faults: one GoogleTest test in a test binary that is built with the fault."""

from __future__ import annotations

import re
import subprocess

from tests.negative.faults import FAULTS, HostFault
from tests.negative.verdict import LOGS, make
from tests.qemu.build import BUILD, ROOT

_RUN_SECONDS = 600.0
_TEST_TREE = ROOT / "tests/host"


def build_control() -> None:
    """The binary without a fault, with all tests."""
    make("host", "host-build")


def build_planted(fault: HostFault) -> None:
    """Only the files of the tests that are held against this fault, and what is no test itself: a fault's build
    is to be short."""
    helpers = sorted(path.relative_to(ROOT).as_posix() for path in _TEST_TREE.rglob("*.cpp")
                     if not path.name.endswith("_test.cpp"))
    tests = sorted({f"tests/host/{other.source}" for other in FAULTS
                    if isinstance(other, HostFault) and other.name == fault.name})
    sources = " ".join([*helpers, *tests])
    make(f"host-{fault.name}", "host-build", f"FAULT={fault.name}", f"HOST_TEST_SOURCES={sources}")


def planted_problems(fault: HostFault) -> list[str]:
    build_planted(fault)
    output, status = _run(f"host-fault-{fault.name}", fault, "planted")
    failed = re.findall(r"^\[  FAILED  \] ([^\s,]+)", output, re.MULTILINE)
    if not _ran(output):
        return [f"no test is named {fault.test}"]
    if not failed:
        return [f"{fault.test} ended with status {status} and reports no failure" if status else
                f"{fault.test} passes"]
    if not re.search(fault.message, output):
        return [f"{failed[0]} fails, but not with /{fault.message}/"]
    return []


def control_problems(fault: HostFault) -> list[str]:
    output, status = _run("host", fault, "control")
    if not _ran(output):
        return [f"no test is named {fault.test}"]
    return [f"{fault.test} fails"] if status else []


def _ran(output: str) -> bool:
    return re.search(r"^\[ RUN      \] ", output, re.MULTILINE) is not None


def _run(directory: str, fault: HostFault, log_name: str) -> tuple[str, int]:
    """The output and the status of just the named test."""
    finished = subprocess.run([str(BUILD / directory / "host_tests"), f"--gtest_filter={fault.test}"], cwd=ROOT,
                              timeout=_RUN_SECONDS, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
    (LOGS / f"{fault.name}.{log_name}.log").write_text(finished.stdout)
    return finished.stdout, finished.returncode
