"""Checks the debugger's commands (tools/gdb) in gdb itself, in batch mode, against a machine of QEMU's."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.qemu.build import PAGE_BYTES, ROOT, Build
from tests.qemu.qemu import Qemu

_SECONDS = 300.0
SCRIPT = ROOT / "tools/gdb/atoll.py"
_NUMBER = "&'atl::percpu::cpu_number'"


class Session:
    """What gdb printed, by command. `commands` run in order whatever fails; the machine goes on when they are over."""

    def __init__(self, elf: Path, socket: Path, commands: list[str], log: Path) -> None:
        arguments = ["gdb-multiarch", "-nx", "-batch", "-x", str(SCRIPT), str(elf), "-ex", f"target remote {socket}"]
        for number, command in enumerate(commands):
            arguments += ["-ex", f"echo <{number}>\\n", "-ex", command]
        arguments += ["-ex", f"echo <{len(commands)}>\\n"]
        finished = subprocess.run(arguments, cwd=ROOT, timeout=_SECONDS, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        log.write_text(finished.stdout)
        parts = re.split(r"^<\d+>\n", finished.stdout, flags=re.MULTILINE)
        self.attached = parts[0]
        self.outputs = list(zip(commands, parts[1:]))

    def problems(self, expected: list[tuple[str, str]]) -> list[str]:
        """Why the outputs are not as the regular expressions in `expected` say, one for each command."""
        if len(self.outputs) != len(expected):
            return [f"gdb ran {len(self.outputs)} of {len(expected)} commands"]
        return [f"`{command}` printed `{output.strip()}`, in which nothing matches /{pattern}/"
                for (command, output), (_, pattern) in zip(self.outputs, expected)
                if not re.search(pattern, output, re.MULTILINE)]


def _run(qemu: Qemu, build: Build, expected: list[tuple[str, str]]) -> tuple[Session, list[str]]:
    session = Session(build.elf, qemu.gdb_socket, [command for command, _ in expected],
                      qemu.log.with_suffix(".gdb.log"))
    return session, session.problems(expected)


def monitor_reads_the_last_cpu(qemu: Qemu, cpus: int) -> list[str]:
    """The monitor's `percpu`, asked on the boot CPU, shows what gdb sees on the other."""
    qemu.write(f"percpu {cpus - 1} *cpu_number\n")
    line = qemu.wait_for(r" percpu::cpu_number = ").text.strip()
    shown = line.endswith(f"= {cpus - 1:#x}")
    return [] if shown else [f"the monitor shows CPU {cpus - 1}'s number as `{line}`"]


def at_the_prompt(qemu: Qemu, build: Build, cpus: int) -> list[str]:
    """Attaches to a kernel that waits at its prompt: every CPU idle, each on its own tables."""
    page = PAGE_BYTES[build.page]
    last = cpus - 1
    expected = [
        ("atoll-cpus", rf"^  cpu   {last} mpidr +0x\w+  thread +{cpus}  online +pc 0x\w+ \S+\+0x"),
        (f"atoll-bt {last}", r"^#\d+ .*\batl::idle_loop \(\)(.*\n)+#\d+ .*\bsecondary_virtual \(\)"),
        ("atoll-bt 0", r"\batl::monitor_main \(.*\n(#.*\n)*#\d+ .*\brun_on_stack \(\)"),
        *((f"atoll-percpu {cpu} cpu_number", rf"^cpu_number at 0x\w+: \(unsigned int\) {cpu}$") for cpu in range(cpus)),
        ("atoll-percpu 1 all", r"^percpu_emergency_stack at (.*\n)+idle_work at "),
        ("atoll-percpu 1 idle_work.argument", r"^idle_work\.argument at 0x\w+: \(void \*\) 0x0$"),
        ("atoll-walk 0 &_start", rf", image: TTBR1_EL1 0x\w+, pages of {page // 1024}K, {build.va_bits} bits\n"
                                 r"(  level .*\n)+  physical 0x40200000\n"),
        (f"atoll-walk 0 {_NUMBER}", r", local window: (.*\n)+  level 3 .* page of .*: rw-, normal, inner shareable"),
        (f"atoll-walk {last} {_NUMBER}", r"^  physical 0x\w+$"),
        (f"atoll-ptdump {last}", r"^---\[ local window \]---\n(.*\n)+\d+ ranges, \w+ mapped, 0B writable and exec"),
        # Whichever thread is selected, and what was selected stays so.
        ("thread", r"Current thread is 1 "),
        ("atoll-percpu 0 no_such", r"no per-CPU variable no_such: there are .*cpu_number"),
        (f"atoll-bt {cpus}", f"no CPU {cpus} runs the kernel: `atoll-cpus`"),
        ("atoll-walk 0", "^usage: atoll-walk CPU ADDRESS$"),
        # The image is kept, but not beyond the file's next build.
        ("python from tools.gdb import kernel; old = kernel.image(); kept = kernel.image() is old; old.built -= 1; "
         "print(kept, kernel.image() is old)", "^True False$"),
    ]
    session, problems = _run(qemu, build, expected)
    frames = {command: re.findall(r"^  physical (0x\w+)$", output, re.MULTILINE)
              for command, output in session.outputs if _NUMBER in command}
    if len({tuple(found) for found in frames.values()}) != len(frames):
        problems.append(f"two CPUs have one frame in the local window: {frames}")
    return problems


def from_reset_to_panic(qemu: Qemu, build: Build, cpus: int) -> list[str]:
    """Follows a kernel that CPU `cpus` - 1 is to end by `panic overflow`, from before its first instruction."""
    last = cpus - 1
    expected = [
        ("atoll-cpus", r"^  cpu   - .* thread   1  MMU off +pc 0x0000000040000000"),
        ("atoll-walk 0 0x40200000", r"runs with its MMU off: there are no tables"),
        ("hbreak early_map_kernel", r"at 0x402\w+: early_map_kernel\. \(2 locations\)"),
        ("continue", r"\batl::early_map_kernel \(mmfr0="),
        ("atoll-bt 0", r"^#0 .*early_map_kernel.*\n#1  0x00000000402\w+ in primary_entry \(\).*\n\Z"),
        ("hbreak kernel_main", r"2 locations"),
        ("continue", r"\batl::kernel_main \("),
        ("atoll-cpus", r"^  cpu   0 .* thread   1  booting +pc 0xf\w+ kernel_main\+0x0"),
        ("atoll-bt 0", r"^#0 .*kernel_main \(.*\n#1 .*\bprimary_virtual \(\).*\n\Z"),
        ("atoll-walk 0 &_start", r"^  physical 0x40200000$"),
        ("atoll-percpu 0 cpu_number", r"\(unsigned int\) 0$"),
        ("hbreak atl::arch::exit_with_status", "breakpoint 3 at 0xf"),
        ("continue", rf"Thread {cpus} hit Breakpoint 3, atl::arch::exit_with_status \(status="),
        # The stopped: from a function that never returns, through the interrupt, to what it interrupted.
        ("atoll-bt 1", r"\bon_stop \(\)(.*\n)+#.*\bdispatch_nmi.*\n(#.*\n)*#.*\bsave_and_dispatch.*\n"
                       r"(#.*\n)*#.*\bidle_loop(.*\n)+#.*\bsecondary_virtual.*\n\Z"),
        # The reporter: from the emergency stack to the one that overflowed, down to its beginning.
        (f"atoll-bt {last}", r"\bpanic_on_overflow (.*\n)+#\d+ .*\bsave_and_dispatch \(\)(.*\n)+"
                             r"#\d+ .*\boverflow_stack\b(.*\n)+"
                             r"#\d+ .*\bhandle_call\b(.*\n)+#.*\bsecondary_virtual.*\n\Z"),
        (f"atoll-percpu {last} cpu_number", rf"\(unsigned int\) {last}$"),
    ]
    return _run(qemu, build, expected)[1]
