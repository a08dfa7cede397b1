"""tools/ksymbols: names as backtraces print them, and the table that kernel/ksymbols.cpp reads."""

import unittest

from tools.ksymbols import MAX_NAME, code_table, per_cpu_table, read_per_cpu, read_symbols, short_name

LISTING = """\
00000000000000a0 A __percpu_bytes
ffff7fffc0000000 D __percpu_start
ffff7fffc0000000 0000000000000004 D atl::percpu::cpu_number
ffff7fffc0000040 0000000000000018 d atl::(anonymous namespace)::outgoing_call
ffff7fffc00000a0 0000000000000008 d atl::beyond_the_static_area
ffff800000000000 T __image_start
ffff800000000000 T _start
ffff800000000040 t primary_entry
ffff800000000040 t an_alias
ffff800000000100 d data_between
ffff800000000200 00000000000000a0 T atl::mm::BuddyZone::free(atl::mm::Page*, unsigned int)
ffff800000001000 T __text_end
ffff800000002000 T beyond
                 U undefined
"""


class ShortName(unittest.TestCase):
    def names(self, demangled, expected):
        self.assertEqual(short_name(demangled), expected)

    def test_plain(self):
        self.names("kernel_main", "kernel_main")

    def test_parameters_and_return_type(self):
        self.names("void atl::panic<unsigned long>(unsigned long const&)", "panic")
        self.names("atl::mm::BuddyZone::free(atl::mm::Page*, unsigned int)", "mm::BuddyZone::free")

    def test_nested_template_arguments(self):
        self.names("atl::mm::KernelRoots<atl::mm::Layout<atl::arch::Geometry<(atl::arch::Granule)0,"
                   " 48u> >, int>::install(int)", "mm::KernelRoots::install")

    def test_anonymous_namespace(self):
        self.names("atl::(anonymous namespace)::map_image()", "map_image")

    def test_clone(self):
        self.names("atl::halt() [clone .cold]", "halt")

    def test_operators(self):
        self.names("atl::Address<int>::operator<=>(int) const", "Address::operator")
        self.names("atl::Late<int>::operator->()", "Late::operator")
        self.names("atl::f::operator()(int) const", "f::operator")

    def test_lambda(self):
        self.names("atl::init()::{lambda(unsigned int)#2}::operator()(unsigned int) const",
                   "init")

    def test_length(self):
        self.assertEqual(len(short_name("x" * 500)), MAX_NAME)


class Table(unittest.TestCase):
    def test_functions_of_the_code_only(self):
        start, end, functions = read_symbols(LISTING.splitlines())
        self.assertEqual((start, end), (0xffff800000000000, 0xffff800000001000))
        self.assertEqual(functions, [(start, "_start"), (start + 0x40, "primary_entry"),
                                     (start + 0x200, "mm::BuddyZone::free")])

    def test_image_without_bounds(self):
        with self.assertRaises(KeyError):
            read_symbols(LISTING.replace("__image_start", "x").splitlines())

    def test_words_then_text(self):
        lines = code_table(0x1000, 0x2000, [(0x1000, "a"), (0x1010, "bcd"), (0x1020, "a")]).splitlines()
        words = [int(line.split()[1], 0) for line in lines if ".word" in line]
        count, starts, names = words[0], words[1:5], words[5:]
        self.assertEqual(count, 4)  # with the one that marks the end of the code
        self.assertEqual(starts, [0, 0x10, 0x20, 0x1000])
        self.assertEqual(names, [0, 2, 0, 6])  # an equal name is there once
        self.assertEqual([line for line in lines if "asciz" in line], ['  .asciz "a"', '  .asciz "bcd"', '  .asciz ""'])

    def test_variables_have_offset_and_size(self):
        variables = read_per_cpu(LISTING.splitlines())
        self.assertEqual(variables, [(0, 4, "percpu::cpu_number"), (0x40, 0x18, "outgoing_call")])
        lines = per_cpu_table(variables).splitlines()
        self.assertIn("__percpu_symbols:", lines)
        words = [int(line.split()[1], 0) for line in lines if ".word" in line]
        self.assertEqual(words, [2, 0, 0x40, 4, 0x18, 0, len("percpu::cpu_number") + 1])

    def test_text_is_escaped(self):
        self.assertIn(r'.asciz "operator\"\""', code_table(0, 16, [(0, 'operator""')]))


if __name__ == "__main__":
    unittest.main()
