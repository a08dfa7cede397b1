"""Every Python file compiles."""

from tests.lint.tree import Finding

NAME = "python"


def _is_python(tree, name):
    if name.endswith(".py"):
        return True
    return "." not in name.rsplit("/", 1)[-1] and tree.text(name).startswith("#!/usr/bin/env python3")


def check(tree):
    for name in tree.files:
        if not _is_python(tree, name):
            continue
        try:
            compile(tree.text(name), name, "exec", dont_inherit=True)
        except SyntaxError as error:
            yield Finding(name, error.lineno or 0, NAME, f"does not compile: {error.msg}")
