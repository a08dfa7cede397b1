"""One file, one purpose: 400 lines are the soft limit."""

from tests.lint.tree import Finding

NAME = "size"

LIMIT = 400
CODE = (".hpp", ".cpp", ".h", ".S", ".py", ".mk", "Makefile")


def check(tree):
    for name in tree.files:
        if not name.endswith(CODE):
            continue
        lines = tree.text(name).count("\n")
        if lines > LIMIT:
            yield Finding(name, LIMIT + 1, NAME, f"{lines} lines, more than {LIMIT}: is it still about one thing?")
