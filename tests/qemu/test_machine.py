"""Unit tests of the machines' command lines and of the trees that they are given."""

import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.qemu.machine import STUB, Machine, describe, shrink

IMAGE = Path("Image")


def options(machine: Machine, name: str) -> list[str]:
    """The values of one QEMU option."""
    arguments = machine.arguments("test")
    return [arguments[at + 1] for at, argument in enumerate(arguments) if argument == name]


class Options(unittest.TestCase):
    def test_interrupt_controller(self) -> None:
        self.assertEqual(options(Machine(IMAGE), "-M"), ["virt,gic-version=3"])
        self.assertEqual(options(Machine(IMAGE, gic="2", options="secure=on"), "-M"), ["virt,gic-version=2,secure=on"])
        self.assertEqual(options(Machine(IMAGE, gic=""), "-M"), ["virt"])

    def test_ram(self) -> None:
        sizes = {"2G": 2 << 30, "129M": 129 << 20, "1048580K": 1048580 << 10, "64": 64 << 20}
        for memory, size in sizes.items():
            self.assertEqual(len(Machine(IMAGE, memory=memory).ram), size)

    def test_initrd_and_loads(self) -> None:
        machine = Machine(IMAGE, initrd=Path("initrd"), loads=((Path("data"), 0x42000000),))
        self.assertEqual(options(machine, "-initrd"), ["initrd"])
        self.assertEqual(options(machine, "-device"), ["loader,file=data,addr=0x42000000,force-raw=on"])

    def test_stub(self) -> None:
        tree = Path("tree")
        machine = Machine(IMAGE, boot="stub", device_tree=tree, tree_address=0x48000001, image_address=0x50000000)
        self.assertEqual(options(machine, "-kernel"), [str(STUB)])
        self.assertEqual(options(machine, "-device"), [
            "loader,file=Image,addr=0x50000000,force-raw=on", "loader,file=tree,addr=0x48000001,force-raw=on",
            "loader,addr=0x400f1000,data=0x48000001,data-len=8", "loader,addr=0x400f1008,data=0x50000000,data-len=8"])

    def test_a_tree_outside_ram_is_not_loaded(self) -> None:
        machine = Machine(IMAGE, boot="stub", device_tree=Path("tree"), tree_address=0)
        self.assertFalse([option for option in options(machine, "-device") if "file=tree" in option])
        self.assertIn("loader,addr=0x400f1000,data=0x0,data-len=8", options(machine, "-device"))


class Tree(unittest.TestCase):
    def test_what_qemu_says_of_a_machine(self) -> None:
        with tempfile.NamedTemporaryFile() as image:
            image.write(bytes(4096))
            image.flush()
            tree = describe(Machine(Path(image.name), smp="3", boot="stub", command_line="run=poweroff"))
        self.assertLess(tree.stat().st_size, 1 << 16)
        source = subprocess.run(["dtc", "-I", "dtb", "-O", "dts", "-q", str(tree)], check=True, timeout=60,
                                stdout=subprocess.PIPE, text=True).stdout
        self.assertIn('bootargs = "run=poweroff"', source)
        self.assertIn("cpu@2 {", source)
        self.assertNotIn("cpu@3 {", source)

    def test_a_machine_that_qemu_refuses(self) -> None:
        with self.assertRaisesRegex(OSError, "no such machine: .*frame"):
            describe(Machine(IMAGE, options="frame=7"))

    def test_shrink(self) -> None:
        header = struct.pack(">10I", 0xd00dfeed, 0x1000, 40, 56, 40, 17, 16, 0, 6, 16)
        tree = shrink(header + bytes(0x1000 - len(header)))
        self.assertEqual(len(tree), 62)
        self.assertEqual(struct.unpack_from(">I", tree, 4), (62,))
        with self.assertRaises(ValueError):
            shrink(bytes(64))


if __name__ == "__main__":
    unittest.main()
