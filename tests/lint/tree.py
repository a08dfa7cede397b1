"""The files that lint looks at, and what all rules share: findings, and C++ seen without its comments."""

import dataclasses
import functools
import pathlib
import re
import subprocess

# Folders whose code runs in the kernel. tests/kernel holds the selftests that are linked into it.
KERNEL_FOLDERS = ("lib/", "arch-arm64/", "percpu/", "mm/", "kasan/", "kernel/", "tests/kernel/")
CPP_SUFFIXES = (".hpp", ".cpp")

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")
      | (?P<text>"(?:\\.|[^"\\\n])*")
      | (?P<digits>\b[0-9][0-9a-zA-Z_.]*(?:'[0-9a-zA-Z]+)+)
      | (?P<char>'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)
_INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"(?P<quoted>[^"]+)"|<(?P<angled>[^>]+)>)', re.MULTILINE)


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    """One broken rule. `line` is 1-based; 0 means the file (or history) as a whole."""

    file: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.rule}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Include:
    line: int
    path: str
    angled: bool


def _blank(match):
    """Keeps line breaks and the quotes of a string, so that positions and `#include "…"` shapes survive."""
    if match.group("digits"):
        return match.group()
    inside = re.sub(r"[^\n]", " ", match.group())
    if match.group("comment"):
        return inside
    return match.group()[0] + inside[1:-1] + match.group()[-1]


class Tree:
    """A project tree. Paths are relative to its root and use '/'."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()

    @functools.cached_property
    def files(self):
        """Every tracked or new file that is not ignored; every file but build/ where there is no git."""
        listed = self.git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        if listed is None:
            paths = (p.relative_to(self.root) for p in self.root.rglob("*") if p.is_file())
            names = {p.as_posix() for p in paths if p.parts[0] not in ("build", ".git")}
        else:
            names = {n for n in listed.split("\0") if n and (self.root / n).is_file()}
        return sorted(n for n in names if "__pycache__" not in n)

    def git(self, *arguments):
        """What a git command prints, or None where this tree is not a git work tree of its own."""
        if not (self.root / ".git").exists():
            return None
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments], capture_output=True, text=True, check=False
        )
        return done.stdout if done.returncode == 0 else None

    @functools.cache
    def text(self, name):
        return (self.root / name).read_bytes().decode("utf-8", errors="replace")

    def is_binary(self, name):
        with (self.root / name).open("rb") as file:
            return b"\0" in file.read(4096)

    @functools.cache
    def code(self, name):
        """The text of a C++ or assembly file with comments and the insides of literals blanked."""
        return _TOKEN.sub(_blank, self.text(name))

    def code_lines(self, name):
        return enumerate(self.code(name).splitlines(), start=1)

    @functools.cache
    def includes(self, name):
        text = self.text(name)
        return [
            Include(
                text.count("\n", 0, m.start("quoted") if m["quoted"] else m.start("angled")) + 1,
                m["quoted"] or m["angled"],
                m["angled"] is not None,
            )
            for m in _INCLUDE.finditer(text)
        ]

    def cpp_files(self):
        return [n for n in self.files if n.endswith(CPP_SUFFIXES)]

    def kernel_files(self):
        """C++ that is compiled into the kernel."""
        return [n for n in self.cpp_files() if n.startswith(KERNEL_FOLDERS)]
