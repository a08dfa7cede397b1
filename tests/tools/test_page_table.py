"""tools/page_table beyond what tests/qemu/test_outside.py walks, and tools/gdb/describe's words for it."""

import struct
import unittest

from tools.gdb import describe
from tools.page_table import Descriptor, Geometry, Leaf, UnknownFormat, Walker

READ_ONLY, NEVER, CONTIGUOUS, NOT_GLOBAL = 1 << 7, 1 << 53, 1 << 52, 1 << 11
NORMAL = 3 << 8 | 1 << 10
MAIR = 0x4404ff


class Tcr(unittest.TestCase):
    def test_halves_have_encodings_of_their_own(self) -> None:
        for tg0, tg1, shift in ((0, 2, 12), (2, 1, 14), (1, 3, 16)):
            tcr = tg1 << 30 | 17 << 16 | tg0 << 14 | 25
            self.assertEqual(Geometry.from_tcr(tcr), Geometry(shift, 47))
            self.assertEqual(Geometry.from_tcr(tcr, upper=False), Geometry(shift, 39))

    def test_what_has_no_walk(self) -> None:
        for tcr, upper in ((0 << 30, True), (3 << 14, False), (2 << 30 | 1 << 23, True), (1 << 7, False),
                           (2 << 30 | 1 << 59, True)):
            with self.subTest(tcr=hex(tcr)), self.assertRaises(UnknownFormat):
                Geometry.from_tcr(tcr, upper)


class Tables:
    """Two levels: a root at 0x100000 and one table at 0x200000, in memory that reads as zeros elsewhere."""

    ROOT, TABLE = 0x10_0000, 0x20_0000

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.words = {}
        self.reads = 0

    def read(self, address: int, size: int) -> bytes:
        self.reads += 1
        return b"".join(struct.pack("<Q", self.words.get(address + at, 0)) for at in range(0, size, 8))

    def walker(self, **options) -> Walker:
        return Walker(self.geometry, self.read, **options)


def two_level(geometry: Geometry) -> Tables:
    """One page, one block, one entry of a reserved kind."""
    tables = Tables(geometry)
    tables.words[Tables.ROOT] = Tables.TABLE | 3
    tables.words[Tables.ROOT + 8] = 4 << geometry.shift(2) | NORMAL | READ_ONLY | 1
    tables.words[Tables.TABLE + 16] = 7 << geometry.page_shift | NORMAL | NEVER | 3
    tables.words[Tables.TABLE + 24] = 7 << geometry.page_shift | NORMAL | 1
    return tables


class Leaves(unittest.TestCase):
    SHAPES = (Geometry(12, 30), Geometry(14, 36), Geometry(16, 42))

    def test_pages_and_blocks_ascending(self) -> None:
        for geometry in self.SHAPES:
            with self.subTest(geometry=geometry):
                self.assertEqual(geometry.root_level, 2)
                page, block = 1 << geometry.page_shift, 1 << geometry.shift(2)
                leaves = list(two_level(geometry).walker().leaves(Tables.ROOT, 0))
                self.assertEqual([(leaf.address, leaf.size) for leaf in leaves], [(2 * page, page), (block, block)])
                self.assertEqual([(leaf.is_writable, leaf.is_executable) for leaf in leaves],
                                 [(True, False), (False, True)])

    def test_single_entries_give_the_same_walk(self) -> None:
        for geometry in self.SHAPES:
            for address in (0, 2 << geometry.page_shift, (1 << geometry.shift(2)) + 5, 3 << geometry.page_shift):
                tables = two_level(geometry)
                whole, single = tables.walker(), tables.walker(whole_tables=False)
                self.assertEqual(whole.steps(Tables.ROOT, address), single.steps(Tables.ROOT, address))

    def test_tables_limit_what_lies_below(self) -> None:
        tables = two_level(self.SHAPES[0])
        tables.words[Tables.TABLE + 16] &= ~NEVER
        tables.words[Tables.ROOT] |= 1 << 62 | 1 << 59
        page = next(tables.walker().leaves(Tables.ROOT, 0))
        self.assertFalse(page.is_writable or page.is_executable)


class Words(unittest.TestCase):
    def test_sizes(self) -> None:
        self.assertEqual([describe.size(n) for n in (0, 1, 1024, 1536, 2 << 20, 1 << 30, 2048 << 40)],
                         ["0B", "1B", "1K", "1536B", "2M", "1G", "2048T"])

    def test_memory(self) -> None:
        self.assertEqual([describe.memory(byte) for byte in (0xff, 0x44, 0x00, 0x04, 0x0c, 0xbb)],
                         ["normal", "uncached", "device nGnRnE", "device nGnRE", "device GRE", "memory type 0xbb"])

    def test_steps(self) -> None:
        geometry = Leaves.SHAPES[0]
        walker = two_level(geometry).walker()

        def lines(address: int) -> list[str]:
            return [describe.step(geometry, step, MAIR) for step in walker.steps(Tables.ROOT, address)]

        self.assertEqual(lines(0x2000), [
            "  level 2  0x100000[0] = 0x0000000000200003  table at 0x200000",
            "  level 3  0x200000[2] = 0x0020000000007703  page of 4K at 0x7000: rw-, normal, inner shareable"])
        self.assertEqual(lines(0x20_0000)[-1].split("  ")[-1],
                         "block of 2M at 0x800000: r-x, normal, inner shareable")
        self.assertTrue(lines(0x3000)[-1].endswith("reserved encoding: faults"))
        self.assertTrue(lines(0x4000)[-1].endswith("invalid: faults"))


class Dump(unittest.TestCase):
    def lines(self, *leaves: tuple[int, int]) -> list[str]:
        """Of 4K pages: address and attribute bits."""
        every = (Leaf(address, 0x1000, Descriptor(address | NORMAL | bits | 3, 3)) for address, bits in leaves)
        return list(describe.dump(describe.merge(every, lambda at: "low" if at < 0x10000 else "high"), MAIR))

    def test_alike_and_adjacent_are_one_line(self) -> None:
        self.assertEqual(self.lines((0x1000, NEVER), (0x2000, NEVER), (0x3000, READ_ONLY | NEVER), (0x5000, NEVER)), [
            "---[ low ]---",
            "0x0000000000001000-0x0000000000002fff     8K  rw- normal, 2 x 4K",
            "0x0000000000003000-0x0000000000003fff     4K  r-- normal, 1 x 4K",
            "0x0000000000005000-0x0000000000005fff     4K  rw- normal, 1 x 4K",
            "3 ranges, 16K mapped, 0B writable and executable"])

    def test_regions_part(self) -> None:
        self.assertEqual([line for line in self.lines((0xf000, NEVER), (0x10000, NEVER)) if line[0] == "-"],
                         ["---[ low ]---", "---[ high ]---"])

    def test_writable_and_executable_is_flagged(self) -> None:
        lines = self.lines((0x1000, READ_ONLY), (0x2000, 0), (0x3000, NEVER | CONTIGUOUS | NOT_GLOBAL))
        self.assertEqual([line.endswith("  <-- W+X") for line in lines[1:4]], [False, True, False])
        self.assertIn("not global, 1 x 4K contiguous", lines[3])
        self.assertEqual(lines[-1], "3 ranges, 12K mapped, 4K writable and executable")


if __name__ == "__main__":
    unittest.main()
