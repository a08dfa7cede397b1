"""Findings that are accepted, each with its reason (exceptions.txt).

A line is `rule  path  reason`; a path that ends in `*` stands for all that begin so. An exception
that no longer hides anything is a finding itself, so the list cannot outlive its causes.
"""

import dataclasses
import fnmatch

from tests.lint.tree import Finding

NAME = "exceptions"
FILE = "tests/lint/exceptions.txt"


@dataclasses.dataclass
class Exemption:
    line: int
    rule: str
    pattern: str
    used: bool = False


def parse(text):
    """The list's exemptions, and findings for its malformed lines."""
    exemptions, findings = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(None, 2)
        if len(words) == 3:
            exemptions.append(Exemption(number, words[0], words[1]))
        else:
            findings.append(Finding(FILE, number, NAME, "not `rule  path  reason`"))
    return exemptions, findings


def apply(tree, findings):
    """`findings` without the exempted ones, with those of the list itself."""
    if not (tree.root / FILE).exists():
        return list(findings)
    exemptions, kept = parse(tree.text(FILE))
    for finding in findings:
        matching = [e for e in exemptions if e.rule == finding.rule and fnmatch.fnmatchcase(finding.file, e.pattern)]
        for exemption in matching:
            exemption.used = True
        if not matching:
            kept.append(finding)
    kept += [Finding(FILE, e.line, NAME, f"{e.rule} has nothing to excuse in {e.pattern}")
             for e in exemptions if not e.used]
    return kept
