#!/usr/bin/env python3
"""Writes the kernel's symbol tables (kernel/ksymbols.hpp) as assembly, from a linked image: of its code, and of its
per-CPU variables.

The tables go after the code, and the local window is elsewhere, so the second link leaves both where the first one
put them.
"""

import argparse
import re
import subprocess
import sys

CODE_TYPES = "tTwW"
MAX_NAME = 96


def matching_bracket(text, start, opening, closing):
    """Index of the bracket that closes the one at `start`, or -1."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] == opening:
            depth += 1
        elif text[i] == closing:
            depth -= 1
            if depth == 0:
                return i
    return -1


def without_groups(text, opening, closing):
    """Leaves out everything between `opening` and `closing`, both included."""
    while (start := text.find(opening)) >= 0:
        end = matching_bracket(text, start, opening, closing)
        if end < 0:
            break
        text = text[:start] + text[end + 1 :]
    return text


def short_name(demangled):
    """The name of a function or variable without namespace prefix, return type, parameters and template arguments."""
    name = demangled.replace("(anonymous namespace)::", "").replace("atl::", "")
    name = re.sub(r" \[clone [^]]*\]", "", name)
    # Operators whose names contain brackets would be cut by the steps below.
    name = re.sub(r"operator(\(\)|<=>|<<=|>>=|<<|>>|<=|>=|->|<|>)", "operator", name)
    name = re.sub(r"\{lambda\(.*?\)#(\d+)\}", r"lambda#\1", name)
    name = without_groups(name, "<", ">")
    parameters = name.find("(")
    if parameters > 0:
        name = name[:parameters]
    if "operator " not in name:
        name = name.split(" ")[-1]
    return name[:MAX_NAME]


# "address [size] kind name", in hexadecimal.
_LINE = re.compile(r"([0-9a-f]+) (?:([0-9a-f]+) )?(\w) (.*)")


def read_lines(lines):
    """[(address, size or 0, kind, demangled name)] of the defined symbols, from lines of `nm -n -S -C`."""
    matches = filter(None, (_LINE.fullmatch(line.rstrip("\n")) for line in lines))
    return [(int(m[1], 16), int(m[2] or "0", 16), m[3], m[4]) for m in matches]


def _bounds(symbols, *names):
    found = {name: address for address, _, _, name in symbols if name in names}
    return [found[name] for name in names]


def read_symbols(lines):
    """(image start, end of code, [(address, name)]) of the functions."""
    symbols = read_lines(lines)
    start, end = _bounds(symbols, "__image_start", "__text_end")
    functions = []
    for address, _, kind, name in symbols:
        if (kind in CODE_TYPES and start <= address < end and name not in ("__image_start", "__text_end")
                and (not functions or functions[-1][0] != address)):
            functions.append((address, short_name(name)))
    return start, end, functions


def read_per_cpu(lines):
    """[(offset in a unit, size, name)] of the per-CPU variables, ascending. What has no size is a bound."""
    symbols = read_lines(lines)
    start, length = _bounds(symbols, "__percpu_start", "__percpu_bytes")
    return [(address - start, size, short_name(name)) for address, size, _, name in symbols
            if start <= address < start + length and size != 0]


def assembly(label, columns, names):
    """A table: the number of entries, the columns one after another, where each name begins in the text, the text."""
    offsets, text, known = [], [], {}
    length = 0
    for name in names:
        if name not in known:
            known[name] = length
            text.append(name)
            length += len(name.encode()) + 1
        offsets.append(known[name])
    out = ['  .section .rodata.ksymbols, "a"', "  .balign 4", f"  .global {label}", f"{label}:"]
    out += [f"  .word {len(names)}"]
    out += [f"  .word {value:#x}" for column in [*columns, offsets] for value in column]
    out += ['  .asciz "' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in text]
    return "\n".join(out) + "\n"


def code_table(start, end, functions):
    """With an entry that marks the end of the code."""
    return assembly("__ksymbols", [[address - start for address, _ in functions] + [end - start]],
                    [name for _, name in functions] + [""])


def per_cpu_table(variables):
    return assembly("__percpu_symbols", [[offset for offset, _, _ in variables], [size for _, size, _ in variables]],
                    [name for _, _, name in variables])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", default="nm", help="the toolchain's nm")
    parser.add_argument("image", help="the kernel of the first link")
    arguments = parser.parse_args()
    listing = subprocess.run([arguments.nm, "-n", "-S", "-C", arguments.image], check=True, capture_output=True,
                             text=True)
    lines = listing.stdout.splitlines()
    sys.stdout.write(code_table(*read_symbols(lines)) + per_cpu_table(read_per_cpu(lines)))


if __name__ == "__main__":
    main()
