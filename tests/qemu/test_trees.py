"""Unit tests of how trees for the stub are made."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.qemu import trees
from tests.qemu.machine import Machine
from tests.qemu.trees import Tree, TreeError


def source(tree: bytes) -> str:
    return subprocess.run(["dtc", "-q", "-I", "dtb", "-O", "dts", "-"], input=tree, check=True, timeout=60,
                          stdout=subprocess.PIPE).stdout.decode()


class Trees(unittest.TestCase):
    def setUp(self) -> None:
        file = tempfile.NamedTemporaryFile()
        self.addCleanup(file.close)
        file.write(bytes(4096))
        file.flush()
        self.machine = Machine(Path(file.name), smp="2", boot="stub", command_line='run="cpus, mem" a')

    def flatten(self, tree: Tree) -> str:
        return source(tree.flatten(self.machine))

    def test_qemus_own(self) -> None:
        text = self.flatten(Tree())
        self.assertIn('bootargs = "run=\\"cpus, mem\\" a";', text)
        self.assertIn("psci {", text)

    def test_source_changes_it(self) -> None:
        text = self.flatten(Tree("/delete-node/ &{/psci}; / { added { }; };"))
        self.assertNotIn("psci {", text)
        self.assertIn("added {", text)

    def test_a_tree_of_the_project(self) -> None:
        text = self.flatten(Tree(base="reservations.dts"))
        self.assertIn('model = "Atoll test board"', text)
        self.assertRegex(text, r"/memreserve/\s+0x0*42000000 ")
        self.assertIn('bootargs = "run', text)

    def test_initrd(self) -> None:
        with tempfile.NamedTemporaryFile() as image, tempfile.NamedTemporaryFile() as initrd:
            image.write(bytes(16) + (0x12340).to_bytes(8, "little") + bytes(40))
            initrd.write(bytes(99))
            image.flush()
            initrd.flush()
            machine = Machine(Path(image.name), boot="stub", initrd=Path(initrd.name))
            text = source(Tree(base="no-chosen.dts").flatten(machine))
        self.assertIn("linux,initrd-start = <0x00 0x40212340>;", text)
        self.assertIn("linux,initrd-end = <0x00 0x402123a3>;", text)

    def test_changes_of_bytes(self) -> None:
        whole = Tree().flatten(self.machine)
        self.assertEqual(len(Tree(change=trees.cut_to(0.25)).flatten(self.machine)), len(whole) // 4)
        changed = Tree(change=trees.set_bytes(trees.TOTAL_SIZE, b"\xff\xff\0\0")).flatten(self.machine)
        self.assertEqual((changed[:4], changed[4:8], changed[8:]), (whole[:4], b"\xff\xff\0\0", whole[8:]))
        padded = Tree(padding=1 << 20).flatten(self.machine)
        self.assertGreater(int.from_bytes(padded[4:8], "big"), 1 << 20)

    def test_hostile_source(self) -> None:
        self.assertIn("level63 {", self.flatten(Tree(trees.nested(64))))
        chosen = f"/ {{ chosen {{ bootargs = {trees.unterminated('ab')}; }}; }};"
        self.assertIn("bootargs = [61 62];", self.flatten(Tree(chosen)))

    def test_errors_are_those_of_dtc(self) -> None:
        with self.assertRaisesRegex(TreeError, "nowhere"):
            self.flatten(Tree("/delete-node/ &{/nowhere};"))


if __name__ == "__main__":
    unittest.main()
