"""Relative links in the documentation lead somewhere, and so do the documents that code names."""

import posixpath
import re

from tests.lint.tree import Finding

NAME = "links"

_LINK = re.compile(r"\]\((?P<target>[^)\s#]+)(?:#[^)\s]*)?\)")
# "docs/boot.md", "docs/decisions/0003" (the number says which), "DESIGN.md".
_DOCUMENT = re.compile(r"docs/[\w./-]*\w|\b[A-Z][A-Z_]+\.md\b")
CODE = (".hpp", ".cpp", ".h", ".S", ".py", ".mk", ".dts", ".its", "Makefile")


def check(tree):
    yield from _dead_links(tree)
    for name in tree.files:
        # Lint's own tests name documents that are not there on purpose.
        if not name.endswith(CODE) or name.startswith("tests/lint/"):
            continue
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            for match in _DOCUMENT.finditer(line):
                if not any(known.startswith(match[0]) for known in tree.files):
                    yield Finding(name, number, NAME, f"names {match[0]}, which is not there")


def _dead_links(tree):
    for name in tree.files:
        if not name.endswith(".md"):
            continue
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            for match in _LINK.finditer(line):
                target = match["target"]
                if ":" in target:
                    continue
                path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
                if not (tree.root / path).exists():
                    yield Finding(name, number, NAME, f"link to {target}, which is not there")
