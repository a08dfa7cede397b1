"""Case 14: trees that a kernel must not trust. Each boot ends: with the selftests passed, or with a message."""

from __future__ import annotations

from collections.abc import Callable

from tests.qemu import trees
from tests.qemu.spec import Boot, Check, Place
from tests.qemu.trees import Tree

_MIB = 1 << 20
_STRUCTURE_OFFSET = 8   # offsets in a tree's header
_STRINGS_OFFSET = 12
_VERSION = 20
_UNUSABLE = r"^panic: device tree at 0x[0-9a-f]+ is unusable"
_PROMPT_ONLY = {"command_line": "", "check": Check.CONSOLE}


def hostile_trees(one: Callable[..., list[Boot]]) -> list[Boot]:
    """`one` makes a boot of a name and fields."""
    def refused(name: str, tree: Tree, says: str, **fields: object) -> list[Boot]:
        return one(f"case14-{name}", boot="stub", tree=tree, check=Check.MESSAGE, says=(says,), **fields)

    def survived(name: str, tree: Tree, *says: str, **fields: object) -> list[Boot]:
        return one(f"case14-{name}", boot="stub", tree=tree, says=says, **fields)

    def word(at: int, value: int) -> Tree:
        return Tree(change=trees.set_bytes(at, value.to_bytes(4, "big")))

    def bootargs(value: str) -> Tree:
        return Tree(f"/ {{ chosen {{ bootargs = {value}; }}; }};")

    def uart_at(address: int) -> Tree:
        return Tree(f"""/ {{
            uart@{address:x} {{ compatible = "arm,pl011", "arm,primecell"; reg = <0x0 {address:#x} 0x0 0x1000>; }};
            chosen {{ stdout-path = "/uart@{address:x}"; }};
        }};""")

    return [
        *refused("x0-zero", Tree(), r"^panic: .*device tree", tree_address=0),
        *refused("x0-odd", Tree(), r"^panic: no device tree: .* 8-byte aligned", tree_address=0x48000001),
        *refused("x0-outside-ram", Tree(), r"^panic: .*device tree", tree_address=0x20000000),
        *refused("x0-beyond-everything", Tree(), r"^panic: .*device tree", tree_address=0xffff_ffff_ffff_fff8),
        *refused("x0-in-image", Tree(), r"^panic: .*device tree", tree_address=Place.IN_IMAGE),
        *refused("magic", word(0, 0xd00dfeee), _UNUSABLE),
        *refused("version", word(_VERSION, 1), _UNUSABLE),
        *refused("truncated", Tree(change=trees.cut_to(0.5)), _UNUSABLE),
        *refused("empty", Tree(change=lambda tree: bytes(len(tree))), _UNUSABLE),
        *refused("total-size-huge", word(trees.TOTAL_SIZE, 0xffff0000), r"^panic: device tree"),
        *refused("total-size-zero", word(trees.TOTAL_SIZE, 0), _UNUSABLE),
        *refused("padding-3M", Tree(padding=3 * _MIB), _UNUSABLE),
        *refused("structure-outside", word(_STRUCTURE_OFFSET, 0x10000000), _UNUSABLE),
        *refused("strings-outside", word(_STRINGS_OFFSET, 0xfffffff0), _UNUSABLE),
        *refused("no-memory", Tree("/delete-node/ &{/memory@40000000};"), r"memory"),
        *refused("no-cpus-gic", Tree("/delete-node/ &{/intc@8000000};"), r"^panic: .*GIC"),
        *survived("depth-64", Tree(trees.nested(64))),
        *survived("padding-1M", Tree(padding=_MIB)),
        *survived("no-stdout-path", Tree("/ { chosen { /delete-property/ stdout-path; }; };")),
        *survived("stdout-path-nowhere", Tree('/ { chosen { stdout-path = "/nothing@0"; }; };'), "stdout-path"),
        *survived("stdout-path-disabled", Tree('&{/pl011@9000000} { status = "disabled"; };')),
        *survived("bootargs-8K", bootargs(f'"run=selftest,poweroff {"x" * 8192}"'), "bootargs"),
        *survived("bootargs-unterminated", bootargs(trees.unterminated("run=selftest,poweroff")), "bootargs"),
        *survived("no-cpu-map", Tree("/delete-node/ &{/cpus/cpu-map};")),
        *one("case14-no-chosen", boot="stub", tree=Tree("/delete-node/ &{/chosen};"), **_PROMPT_ONLY),
        *survived("wrong-memory", Tree(base="wrong-memory.dts"), r"at 0x0*20000000 are left out: they are not there",
                  r"at 0x0*40000000 are left out: they are not there", r"^memory: 102[34] MiB of RAM",
                  r"overlaps the kernel image; its no-map is ignored",
                  r"^device tree: initrd at 0x0*48000000, .*; ignored", memory="1G", smp="2"),
        *survived("gic-in-ram", Tree("""/ {
            memory@8000000 { device_type = "memory"; reg = <0x0 0x08000000 0x0 0x1000000>; };
        };"""), r"^device tree: .*GIC.* 0x0*8000000 .*RAM"),
        *survived("uart-in-ram", uart_at(0x60000000), r"UART at 0x0*60000000 .*; not used"),
        *survived("uart-is-none", uart_at(0x9010000), r"UART at 0x0*9010000 does not answer as a PL011; not used"),
        *survived("no-cpus", Tree("/delete-node/ &{/cpus};"), online=1),
    ]
