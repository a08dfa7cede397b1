"""Unit tests of the walk and the comparison of roots, over tables made by hand at the three granules."""

import struct
import unittest

from tests.qemu import outside
from tools.page_table import Geometry, Walker

GEOMETRIES = (Geometry(12, 48), Geometry(12, 39), Geometry(14, 47), Geometry(16, 48))


class Memory:
    """Sparse physical memory with a bump allocator of 64 KiB frames."""

    def __init__(self) -> None:
        self.words: dict[int, int] = {}
        self._next = 0x4000_0000

    def frame(self) -> int:
        self._next += 0x10000
        return self._next

    def read(self, address: int, size: int) -> bytes:
        words = (self.words.get(address + at, 0) for at in range(0, size, 8))
        return b"".join(struct.pack("<Q", word) for word in words)[:size]

    def map_page(self, geometry: Geometry, root: int, address: int, frame: int) -> None:
        table = root
        for level in range(geometry.root_level, 3):
            place = table + 8 * geometry.index(address, level)
            if place not in self.words:
                self.words[place] = self.frame() | 3
            table = self.words[place] & ~0xfff
        self.words[table + 8 * geometry.index(address, 3)] = frame | 3


class Walk(unittest.TestCase):
    def test_geometry(self) -> None:
        shapes = [(g.root_level, g.entries(g.root_level), 1 << g.shift(g.root_level)) for g in GEOMETRIES]
        self.assertEqual(shapes, [(0, 512, 512 << 30), (1, 512, 1 << 30), (1, 2048, 64 << 30), (1, 64, 4 << 40)])

    def test_tcr(self) -> None:
        self.assertEqual(Geometry.from_tcr(2 << 30 | 16 << 16), Geometry(12, 48))
        self.assertEqual(Geometry.from_tcr(1 << 30 | 17 << 16), Geometry(14, 47))

    def test_pages_blocks_and_holes(self) -> None:
        for geometry in GEOMETRIES:
            with self.subTest(geometry=geometry):
                memory = Memory()
                root = memory.frame()
                page = -(1 << 30) & (1 << 64) - 1
                memory.map_page(geometry, root, page, 0x8000_0000)
                walker = Walker(geometry, memory.read)
                self.assertEqual(walker.translate(root, page + 0x123), 0x8000_0123)
                self.assertIsNone(walker.translate(root, page + (1 << geometry.page_shift)))
                block = page - (1 << geometry.shift(2))
                memory.map_page(geometry, root, block, 0)
                level_two = root
                for level in range(geometry.root_level, 2):
                    level_two = memory.words[level_two + 8 * geometry.index(block, level)] & ~0xfff
                memory.words[level_two + 8 * geometry.index(block, 2)] = 0xc000_0000 | 1
                self.assertEqual(Walker(geometry, memory.read).translate(root, block + 0x4321), 0xc000_4321)


class Roots(unittest.TestCase):
    """Three CPUs with private windows, and every way in which they may be wrong."""

    def setUp(self) -> None:
        self.geometry = GEOMETRIES[0]
        self.memory = Memory()
        self.number = outside.Symbol(-(1 << 39) - 0x1000 & (1 << 64) - 1, 4)
        self.units = [-(4 << 39) + 0x10000 * cpu & (1 << 64) - 1 for cpu in range(3)]
        shared = self.memory.frame() | 3
        self.cpus = []
        for cpu in range(3):
            root, frame = self.memory.frame(), self.memory.frame()
            self.memory.map_page(self.geometry, root, self.number.address, frame)
            self.memory.words[frame] = cpu
            self.memory.words[root + 8 * 100] = shared
            offset = self.units[cpu] - self.number.address & (1 << 64) - 1
            self.cpus.append(outside.Cpu(root, root, 0, offset))
            self.memory.map_page(self.geometry, self.cpus[0].root, self.units[cpu], frame)
        global_slot = 8 * self.geometry.index(self.units[0], 0)
        for other in self.cpus[1:]:
            self.memory.words[other.root + global_slot] = self.memory.words[self.cpus[0].root + global_slot]

    def problems(self) -> str:
        walker = Walker(self.geometry, self.memory.read)
        window = self.geometry.index(self.number.address, 0)
        return "\n".join(outside.register_problems(self.cpus) + outside.slot_problems(walker, self.cpus, window)
                         + outside.window_problems(walker, self.cpus, self.number, self.memory.read))

    def test_right(self) -> None:
        self.assertEqual(self.problems(), "")

    def test_slot_not_synced(self) -> None:
        self.memory.words[self.cpus[2].root + 8 * 100] = 0
        self.assertIn("CPU 2: root slots [100] differ", self.problems())

    def test_window_table_shared(self) -> None:
        window = 8 * self.geometry.index(self.number.address, 0)
        self.memory.words[self.cpus[2].root + window] = self.memory.words[self.cpus[1].root + window]
        self.assertIn("share what window slot", self.problems())
        self.assertIn("CPUs 1 and 2 have one frame", self.problems())
        self.assertIn("CPU 2: the window holds CPU number 1", self.problems())

    def test_global_alias_elsewhere(self) -> None:
        self.memory.map_page(self.geometry, self.cpus[0].root, self.units[1], self.memory.frame())
        self.assertIn("CPU 1: the global alias is another frame", self.problems())

    def test_shared_root_and_cnp(self) -> None:
        root = self.cpus[0].root
        self.cpus[1] = outside.Cpu(root, root | 1, 0, self.cpus[1].offset)
        self.assertIn("two CPUs share a root", self.problems())
        self.assertIn("CnP", self.problems())

    def test_window_unmapped(self) -> None:
        self.memory.words[self.cpus[1].root + 8 * self.geometry.index(self.number.address, 0)] = 0
        self.assertIn("CPU 1: the local window is not mapped", self.problems())


if __name__ == "__main__":
    unittest.main()
