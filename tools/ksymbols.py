#!/usr/bin/env python3
"""Writes the kernel's symbol table (kernel/ksymbols.hpp) as assembly, from a linked image.

The table goes after the code, so the second link leaves the code where the first one put it.
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
    """The function's name without namespace prefix, return type, parameters and template arguments."""
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


def read_symbols(lines):
    """(image start, end of code, [(address, name)]) from lines of `nm -n -C`."""
    bounds = {}
    functions = []
    for line in lines:
        fields = line.rstrip("\n").split(" ", 2)
        if len(fields) != 3 or not fields[0]:
            continue
        address, kind, name = int(fields[0], 16), fields[1], fields[2]
        if name in ("__image_start", "__text_end"):
            bounds[name] = address
        elif kind in CODE_TYPES and (not functions or functions[-1][0] != address):
            functions.append((address, short_name(name)))
    start, end = bounds["__image_start"], bounds["__text_end"]
    return start, end, [f for f in functions if start <= f[0] < end]


def assembly(start, end, functions):
    """The table's words and its text, with the entry that marks the end of the code."""
    starts = [address - start for address, _ in functions] + [end - start]
    offsets, text, known = [], [], {}
    length = 0
    for name in [name for _, name in functions] + [""]:
        if name not in known:
            known[name] = length
            text.append(name)
            length += len(name.encode()) + 1
        offsets.append(known[name])
    out = ['  .section .rodata.ksymbols, "a"', "  .balign 4", "  .global __ksymbols", "__ksymbols:"]
    out += [f"  .word {len(starts)}"]
    out += [f"  .word {value:#x}" for value in starts + offsets]
    out += ['  .asciz "' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in text]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", default="nm", help="the toolchain's nm")
    parser.add_argument("image", help="the kernel of the first link")
    arguments = parser.parse_args()
    listing = subprocess.run([arguments.nm, "-n", "-C", arguments.image], check=True, capture_output=True, text=True)
    sys.stdout.write(assembly(*read_symbols(listing.stdout.splitlines())))


if __name__ == "__main__":
    main()
