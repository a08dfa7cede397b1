"""Every unit that can run on the host has its test at the same place under tests/host, and the reverse."""

import pathlib

from tests.lint.tree import CPP_SUFFIXES, Finding

NAME = "mirror"

FOLDERS = ("lib", "arch-arm64", "percpu", "mm", "kasan", "kernel")
NOT_UNITS = ("arch-arm64/hw/", "arch-arm64/include/", "kernel/main.")
TESTS = "tests/host/"


def units(tree):
    """Stem ("mm/buddy") to the file that a finding names: a header and its source are one unit."""
    found = {}
    for name in tree.cpp_files():
        if name.split("/", 1)[0] in FOLDERS and not name.startswith(NOT_UNITS):
            found.setdefault(str(pathlib.PurePosixPath(name).with_suffix("")), name)
    return found


def check(tree):
    stems = units(tree)
    tested = set()
    for name in tree.files:
        if not (name.startswith(TESTS) and name.endswith("_test.cpp")):
            continue
        # A long test may be split: walker_test.cpp, walker_protect_test.cpp.
        of = name.removeprefix(TESTS).removesuffix("_test.cpp")
        if of.split("/", 1)[0] not in FOLDERS:
            continue
        owners = [s for s in stems if of == s or of.startswith(s + "_")]
        tested.update(owners)
        if not owners and not any((tree.root / (of + suffix)).exists() for suffix in CPP_SUFFIXES):
            yield Finding(name, 0, NAME, f"tests a unit that is not there ({of})")
    for stem, name in stems.items():
        if stem not in tested:
            yield Finding(name, 0, NAME, f"has no test {TESTS}{stem}_test.cpp")
