"""Unit tests of the verdict on memory that is not the kernel's."""

import unittest

from tests.qemu import intact

DUMP = """\
---[ linear map ]---
0xffff000000000000-0xffff0000001fffff     2M  rw- normal, 1 x 2M
0xffff000000400000-0xffff00003fffffff  1020M  rw- normal, 510 x 2M
---[ vmalloc ]---
0xffffa20000004000-0xffffa20000007fff    16K  rw- normal, 4 x 4K
3 ranges, 1046528K mapped, 27 tables, 0B writable and executable""".split("\n")
PLACES = (range(0x42000000, 0x42001800), range(0x43000000, 0x43000010))


class Memory:
    """Holds the patterns of PLACES, and the initrd's at an odd address."""

    INITRD_AT = 0x44000123
    INITRD_BYTES = 5000
    LINES = ["  reserved 0x44000000 8 KiB: initrd initrd"]

    def __init__(self) -> None:
        self.bytes = bytearray(0x5000000)
        for place in PLACES:
            self.put(place.start, intact.pattern(place.start, len(place)))
        self.put(self.INITRD_AT, intact.pattern(intact.INITRD_SEED, self.INITRD_BYTES))

    def put(self, address: int, content: bytes) -> None:
        at = address - 0x40000000
        self.bytes[at:at + len(content)] = content

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.bytes[address - 0x40000000:][:size])


class Bytes(unittest.TestCase):
    def setUp(self) -> None:
        self.memory = Memory()

    def test_patterns(self) -> None:
        self.assertEqual(intact.byte_problems(PLACES, self.memory.read), [])
        self.memory.put(0x420017ff, b"\0")
        self.assertEqual(intact.byte_problems(PLACES, self.memory.read),
                         ["the byte at 0x420017ff was overwritten, in 0x42000000-0x420017ff"])

    def test_patterns_of_places_differ(self) -> None:
        self.assertNotEqual(intact.pattern(0x1000, 64), intact.pattern(0x2000, 64))
        self.assertEqual(intact.pattern(0x1000, 64), intact.pattern(0x1000, 64))

    def initrd_problems(self, lines: list[str]) -> list[str]:
        return intact.initrd_problems(lines, Memory.INITRD_BYTES, self.memory.read)

    def test_initrd(self) -> None:
        self.assertEqual(self.initrd_problems(Memory.LINES), [])
        self.memory.put(Memory.INITRD_AT + Memory.INITRD_BYTES - 1, b"\0")
        self.assertEqual(self.initrd_problems(Memory.LINES), ["the initrd is not whole"])

    def test_initrd_partly_reserved_or_not_at_all(self) -> None:
        shorter = [line.replace(" 8 KiB", " 4 KiB") for line in Memory.LINES]
        self.assertEqual(self.initrd_problems(shorter), ["the initrd is not whole"])
        self.assertEqual(self.initrd_problems([]), ["`mem` shows 0 reservations for an initrd"])


class Map(unittest.TestCase):
    def test_physical_ranges(self) -> None:
        self.assertEqual(intact.linear_map(DUMP), [range(0x40000000, 0x40200000), range(0x40400000, 0x80000000)])
        smaller = [line.replace("0xffff0", "0xffff8") for line in DUMP]
        self.assertEqual(intact.linear_map(smaller), intact.linear_map(DUMP), "16K pages begin elsewhere")

    def test_hole(self) -> None:
        self.assertEqual(intact.map_problems(DUMP, [range(0x40200000, 0x40400000)]), [])
        for first, end in ((0x401fffff, 0x40200001), (0x403fffff, 0x40400001), (0x50000000, 0x50001000)):
            self.assertIn("is mapped, within", "".join(intact.map_problems(DUMP, [range(first, end)])))

    def test_no_dump(self) -> None:
        self.assertEqual(intact.map_problems(DUMP[3:], []), ["no ptdump shows a linear map"])


if __name__ == "__main__":
    unittest.main()
