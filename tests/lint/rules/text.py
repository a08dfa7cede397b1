"""Plain text: no trailing space, a final line break, lines that fit, no notes to self, no path of one machine."""

import re

from tests.lint.tree import Finding

NAME = "text"

# The formatter keeps code at 110; this is for what it leaves alone, comments and other languages.
LONGEST = 120
CODE = (".hpp", ".cpp", ".h", ".S", ".py", ".mk", ".dts", ".dtsi", "Makefile")

_MARKER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
_HOME = re.compile(r"(?<![\w.])/(?:home|root|Users)/\w")


def check(tree):
    # A checkout near the file system's root says nothing about a person.
    parent = str(tree.root.parent) + "/"
    machine = re.compile(re.escape(parent) + r"\w") if len(tree.root.parts) > 2 else None
    for name in tree.files:
        if tree.is_binary(name):
            continue
        text = tree.text(name)
        if text and not text.endswith("\n"):
            yield Finding(name, text.count("\n") + 1, NAME, "no line break at the end")
        for number, line in enumerate(text.splitlines(), start=1):
            if line != line.rstrip():
                yield Finding(name, number, NAME, "space at the end of the line")
            if len(line) > LONGEST and name.endswith(CODE):
                yield Finding(name, number, NAME, f"{len(line)} columns, more than {LONGEST}")
            if match := _MARKER.search(line):
                yield Finding(name, number, NAME, f"{match[1]} left in")
            if _HOME.search(line) or (machine and machine.search(line)):
                yield Finding(name, number, NAME, "names a path of one machine")
