"""The project's rules, run over the tree: one line a finding, `file:line: rule: message`, then `N findings`.

    python3 -m tests.lint.lint [--root DIR] [--rule NAME]...

Exit status 1 if there is a finding. Accepted exceptions and their reasons: tests/lint/exceptions.txt.
"""

import argparse
import pathlib
import sys

from tests.lint import exceptions
from tests.lint.rules import (
    assembly, commits, format, headers, layers, layout, links, mirror, preprocessor, python, size, text)
from tests.lint.tree import Tree

ROOT = pathlib.Path(__file__).resolve().parents[2]

RULES = {
    rule.NAME: rule
    for rule in (layers, headers, assembly, preprocessor, size, mirror, format, commits, text, python, links, layout)
}


def run(tree, names=None):
    """Sorted findings of the named rules (default: all), less the exceptions."""
    findings = [f for n in names or RULES for f in RULES[n].check(tree)]
    kept = exceptions.apply(tree, findings)
    if names:
        # Other rules did not run, so what excuses them looks unused.
        kept = [f for f in kept if f.rule != exceptions.NAME]
    return sorted(kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT, help="the tree to check (default: this project)")
    parser.add_argument("--rule", action="append", choices=sorted(RULES), help="only this rule; may be repeated")
    arguments = parser.parse_args()
    findings = run(Tree(arguments.root), arguments.rule)
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
