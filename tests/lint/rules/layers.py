"""Who may include whom (docs/architecture.md): kernel -> kasan -> mm -> percpu -> seam -> arch-arm64 -> lib."""

from tests.lint.tree import Finding

NAME = "layers"

ORDER = ("kernel", "kasan", "mm", "percpu", "seam", "arch-arm64", "lib")
SEAM_FOLDER = "arch-arm64/include/arch/"
SEAM_HEADERS_AT_MOST = 8
# Includes nothing, so that instrumented layers below kasan/ can tell it what they do.
HOOKS = "kasan/hooks.hpp"
HW_MAY_INCLUDE = ("seam", "arch-impl", "arch-arm64", "lib", "hw")


def layer_of_file(name):
    if name.startswith(SEAM_FOLDER):
        return "seam"
    if name.startswith("arch-arm64/hw/"):
        return "hw"
    top = name.split("/", 1)[0]
    return top if "/" in name and top in ORDER else None


def layer_of_include(path):
    if path.startswith("arch/"):
        return "seam"
    if path.startswith("arch-impl/"):
        return "arch-impl"
    return layer_of_file(path)


def _may_include(layer, target):
    if layer == "hw":
        return target in HW_MAY_INCLUDE
    # Inline parts of a seam header come in through it and in no other way.
    if target == "arch-impl":
        return layer == "seam"
    if target == "hw":
        return False
    return ORDER.index(target) >= ORDER.index(layer)


def check(tree):
    sources = [n for n in tree.files if n.endswith((".hpp", ".cpp", ".S", ".h"))]
    for name in sources:
        layer = layer_of_file(name)
        if layer is None:
            continue
        for include in tree.includes(name):
            if include.path == HOOKS and layer in ("percpu", "mm", "kernel"):
                continue
            target = layer_of_include(include.path)
            if target is not None and not _may_include(layer, target):
                yield Finding(name, include.line, NAME, f"{layer} may not include {target} ({include.path})")
            if name == HOOKS:
                yield Finding(name, include.line, NAME, "kasan/hooks.hpp includes nothing")

    seam = [n for n in sources if n.startswith(SEAM_FOLDER)]
    for name in seam[SEAM_HEADERS_AT_MOST:]:
        yield Finding(name, 0, NAME, f"the seam has more than {SEAM_HEADERS_AT_MOST} headers")
