"""Commit subjects: `area: what it does`, at most 72 characters. A shallow clone shows what it has."""

import re

from tests.lint.tree import Finding

NAME = "commits"

LONGEST = 72
_SUBJECT = re.compile(r"[a-z0-9][a-z0-9._/-]*(?:, [a-z0-9][a-z0-9._/-]*)*: \S.*[^.\s]")


def problem(subject):
    """What is wrong with a subject, or None."""
    if len(subject) > LONGEST:
        return f"{len(subject)} characters, more than {LONGEST}"
    if not _SUBJECT.fullmatch(subject):
        return "not of the form `area: what it does` (lower-case area, no full stop)"
    return None


def check(tree):
    log = tree.git("log", "--no-merges", "--format=%h %s", "HEAD") or ""
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        if trouble := problem(subject):
            yield Finding(f"commit {commit}", 0, NAME, f"{trouble}: {subject}")
