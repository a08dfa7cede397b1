"""A disassembly as functions of instructions, and questions about all paths through them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

FUNCTION = re.compile(r"^([0-9a-f]+) <(.+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(.+)$")
BRANCH = re.compile(r"(b|b\.\w+|cbn?z|tbn?z) (?:.*, )?(?:0x)?([0-9a-f]+)$")
# After these nothing follows that could be known.
NO_RETURN = re.compile(r"(ret|eret|br|udf|brk)\b|\.")

# A call of panic() has nothing after it either, not even outside.
PANIC = re.compile(r"bl\s.*<_ZN\w*?(5panic|10panic_with)[IE]")

CALL = re.compile(r"(bl|blr|svc|hvc|smc)\b")
STORE = re.compile(r"(st|swp|cas|ld(add|clr|set|eor|[su]m(ax|in)))|dc zva")
LOAD = re.compile(r"ld")


@dataclass(frozen=True)
class Instruction:
    address: int
    text: str  # `msr ttbr1_el1, x0`: one blank after the mnemonic, no comment, no symbol
    panics: bool


@dataclass
class Function:
    name: str
    start: int
    code: list[Instruction] = field(default_factory=list)

    def link(self) -> None:
        """Finds where control goes after each instruction, as indices; `None` stands for outside of the function."""
        index = {instruction.address: i for i, instruction in enumerate(self.code)}
        self.after: list[set[int | None]] = []
        for i, instruction in enumerate(self.code):
            following = i + 1 if i + 1 < len(self.code) else None
            branch = BRANCH.match(instruction.text)
            if branch:
                target = index.get(int(branch[2], 16))
                self.after.append({target} if branch[1] == "b" else {target, following})
            elif instruction.panics:
                self.after.append(set())
            else:
                self.after.append({None} if NO_RETURN.match(instruction.text) else {following})
        self.before: list[set[int | None]] = [set() for _ in self.code]
        for i, targets in enumerate(self.after):
            for target in targets - {None}:
                self.before[target].add(i)
        # The entry comes from outside, and so does, for all we know, what no branch leads to.
        for i, sources in enumerate(self.before):
            if i == 0 or not sources:
                sources.add(None)

    def find(self, pattern: str) -> Iterator[int]:
        return (i for i, instruction in enumerate(self.code) if re.match(pattern, instruction.text))

    def obstacle(self, start: int, forward: bool, wanted: Callable[[int], bool],
                 forbidden: re.Pattern | None) -> str | None:
        """Follows all paths from `start` until `wanted(index)` holds: None if it holds on each of them before
        anything that matches `forbidden`, and before the function is left. Otherwise what is in the way."""
        edges = self.after if forward else self.before
        open_paths, seen = list(edges[start]), set()
        while open_paths:
            i = open_paths.pop()
            if i is None:
                return "the function's end" if forward else "the function's start"
            if i in seen or wanted(i):
                continue
            seen.add(i)
            text = self.code[i].text
            if forbidden and forbidden.match(text):
                return f"`{text}`"
            open_paths += edges[i]
        return None


def parse(listing: str) -> list[Function]:
    """The functions of `objdump -d --no-show-raw-insn`."""
    functions: list[Function] = []
    for line in listing.splitlines():
        if head := FUNCTION.match(line):
            functions.append(Function(head[2], int(head[1], 16)))
        elif (at := INSTRUCTION.match(line)) and functions:
            text = at[2].partition("//")[0].partition("<")[0]
            functions[-1].code.append(Instruction(int(at[1], 16), " ".join(text.split()), bool(PANIC.match(at[2]))))
    for function in functions:
        function.link()
    return functions
