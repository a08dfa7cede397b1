"""Conditions and constants are C++: the preprocessor decides only in the configuration headers."""

import re

from tests.lint.tree import Finding

NAME = "preprocessor"

CONFIGURATION = ("lib/config.hpp", "lib/fault.hpp")

_CONDITION = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif|elifdef|elifndef)\b")
_CONSTANT = re.compile(r"^\s*#\s*define\s+(\w+)\s+[-~('\"]*\d")


def check(tree):
    for name in tree.files:
        if name in CONFIGURATION or not name.endswith((".hpp", ".cpp", ".S", ".h")):
            continue
        for number, line in tree.code_lines(name):
            if match := _CONDITION.match(line):
                yield Finding(name, number, NAME, f"#{match[1]} outside {' and '.join(CONFIGURATION)}")
            if not name.endswith(".S") and (match := _CONSTANT.match(line)):
                yield Finding(name, number, NAME, f"#define {match[1]}: constants are constexpr")
