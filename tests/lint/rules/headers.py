"""What kernel code may include: freestanding standard headers, Boost.Intrusive, libfdt, and rooted project paths."""

import re

from tests.lint.tree import Finding

NAME = "headers"

# Those that work under -ffreestanding with both compilers and need nothing at link time.
STANDARD = frozenset(
    """algorithm array atomic bit compare concepts cstdarg cstddef cstdint cstring expected initializer_list iterator
    limits memory new numeric optional ranges source_location span string_view tuple type_traits utility variant
    version""".split()
)
LIBRARIES = re.compile(r"boost/intrusive/[\w/]+\.hpp|boost/intrusive_fwd\.hpp|libfdt\.h|fdt\.h")
ROOTS = ("lib/", "arch/", "arch-arm64/", "arch-impl/", "percpu/", "mm/", "kasan/", "kernel/", "tests/kernel/")


def check(tree):
    for name in tree.kernel_files():
        for include in tree.includes(name):
            if include.angled:
                if include.path not in STANDARD and not LIBRARIES.fullmatch(include.path):
                    yield Finding(name, include.line, NAME, f"<{include.path}> is not for kernel code")
            elif not include.path.startswith(ROOTS) and not LIBRARIES.fullmatch(include.path):
                yield Finding(name, include.line, NAME, f'"{include.path}" is not a path from the root')
    for name in tree.cpp_files():
        if name.endswith(".hpp") and "#pragma once" not in tree.code(name):
            yield Finding(name, 1, NAME, "no #pragma once")
