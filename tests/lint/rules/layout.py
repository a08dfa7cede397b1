"""The tables of docs/memory-layout.md are what the layout header computes (`tools/layout_table.cpp` prints them)."""

import pathlib
import subprocess
import tempfile

from tests.lint.tree import Finding

NAME = "layout"

DOCUMENT = "docs/memory-layout.md"
PROGRAM = "tools/layout_table.cpp"
BEGIN, END = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"
FLAGS = ("-std=c++23", "-I.", "-Iarch-arm64/include", "-Itests/host/fake")


def printed(tree):
    """What the program prints. Raises CalledProcessError where it does not compile."""
    with tempfile.TemporaryDirectory(prefix="layout-") as folder:
        binary = pathlib.Path(folder) / "layout_table"
        subprocess.run(["g++", *FLAGS, "-o", str(binary), PROGRAM], cwd=tree.root, check=True, capture_output=True,
                       text=True)
        return subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout


def check(tree):
    if PROGRAM not in tree.files or DOCUMENT not in tree.files:
        return
    before, begin, rest = tree.text(DOCUMENT).partition(BEGIN)
    written, end, _ = rest.partition(END)
    if not begin or not end:
        yield Finding(DOCUMENT, 0, NAME, f"no lines {BEGIN.strip()} and {END.strip()}")
        return
    try:
        computed = printed(tree)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[0]
        yield Finding(PROGRAM, 0, NAME, f"cannot be run: {reason}")
        return
    first_line = before.count("\n") + 2
    pairs = zip([*written.splitlines(), None], [*computed.splitlines(), None])
    for number, (have, want) in enumerate(pairs, start=first_line):
        if have != want:
            yield Finding(DOCUMENT, number, NAME, f"differs from the header's: {want or '(ends here)'}")
            return
