"""C++ is formatted as .clang-format says (`clang-format-19 -i FILE` mends it)."""

import re
import shutil
import subprocess

from tests.lint.tree import Finding

NAME = "format"

TOOL = "clang-format-19"
_COMPLAINT = re.compile(r"^(?P<file>.+?):(?P<line>\d+):\d+: error: code should be clang-formatted", re.MULTILINE)


def check(tree):
    names = tree.cpp_files()
    if not names:
        return
    if shutil.which(TOOL) is None:
        yield Finding(".clang-format", 0, NAME, f"{TOOL} is not installed (run tools/setup)")
        return
    done = subprocess.run([TOOL, "--dry-run", "-Werror", "--style=file", *names], cwd=tree.root,
                          capture_output=True, text=True, check=False)
    first = {}
    for match in _COMPLAINT.finditer(done.stderr):
        first.setdefault(match["file"], int(match["line"]))
    for name, line in first.items():
        yield Finding(name, line, NAME, f"not formatted; {TOOL} -i {name} mends it")
    if done.returncode != 0 and not first:
        yield Finding(".clang-format", 0, NAME, done.stderr.strip().splitlines()[-1])
