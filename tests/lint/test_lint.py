"""Negative controls of lint: each rule must flag a small planted tree, and stay silent on a good one."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests.lint import exceptions, lint
from tests.lint.rules import commits, format as format_rule, layers, size
from tests.lint.tree import Tree

HEADER = "#pragma once\n"


class PlantedTree(unittest.TestCase):
    """A temporary tree that a test fills, without git unless the test asks for it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lint-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def git(self, *arguments):
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(self.root), *identity, *arguments], check=True, capture_output=True)

    def found(self, rule):
        return [str(f) for f in lint.run(Tree(self.root), [rule])]

    def assert_found(self, rule, *parts):
        """Exactly one finding of the rule, containing every part."""
        findings = self.found(rule)
        self.assertEqual(len(findings), 1, findings)
        for part in parts:
            self.assertIn(part, findings[0])


class LayersTest(PlantedTree):
    def test_upward_include_is_flagged(self):
        self.write("mm/buddy.hpp", HEADER + '\n#include "kernel/smp.hpp"\n')
        self.assert_found("layers", "mm/buddy.hpp:3", "mm may not include kernel")

    def test_downward_includes_are_fine(self):
        self.write("kernel/smp.hpp", '#include "mm/buddy.hpp"\n#include "arch/cpu.hpp"\n#include "lib/types.hpp"\n')
        self.write("arch-arm64/include/arch/cpu.hpp", '#include "lib/types.hpp"\n#include "arch-impl/cpu.hpp"\n')
        self.assertEqual(self.found("layers"), [])

    def test_description_of_the_machine_may_not_use_the_seam(self):
        self.write("arch-arm64/mpidr.hpp", '#include "arch/cpu.hpp"\n')
        self.assert_found("layers", "arch-arm64 may not include seam")

    def test_nobody_reaches_behind_the_seam(self):
        self.write("kernel/smp.cpp", '#include "arch-arm64/hw/gic.hpp"\n')
        self.assert_found("layers", "kernel may not include hw")

    def test_inline_parts_come_only_through_the_seam(self):
        self.write("percpu/ops.hpp", '#include "arch-impl/cpu.hpp"\n')
        self.assert_found("layers", "percpu may not include arch-impl")

    def test_hw_uses_the_seam_but_nothing_above_it(self):
        self.write("arch-arm64/hw/gic.cpp", '#include "arch/interrupts.hpp"\n#include "mm/layout.hpp"\n')
        self.assert_found("layers", "gic.cpp:2", "hw may not include mm")

    def test_assembly_is_bound_too(self):
        self.write("arch-arm64/hw/head.S", '#include "kernel/boot.hpp"\n')
        self.assert_found("layers", "hw may not include kernel")

    def test_kasan_hooks_are_the_one_exception(self):
        self.write("mm/slab.hpp", '#include "kasan/hooks.hpp"\n')
        self.assertEqual(self.found("layers"), [])
        self.write("mm/buddy.hpp", '#include "kasan/shadow.hpp"\n')
        self.assert_found("layers", "mm may not include kasan")

    def test_kasan_hooks_include_nothing(self):
        self.write("kasan/hooks.hpp", '#include "lib/types.hpp"\n')
        self.assert_found("layers", "includes nothing")

    def test_a_commented_include_counts_as_text(self):
        self.write("lib/types.hpp", '// #include "mm/buddy.hpp"\n')
        self.assertEqual(self.found("layers"), [])

    def test_ninth_seam_header(self):
        for n in range(layers.SEAM_HEADERS_AT_MOST + 1):
            self.write(f"arch-arm64/include/arch/h{n}.hpp", HEADER)
        self.assert_found("layers", "h8.hpp", "more than 8 headers")


class HeadersTest(PlantedTree):
    def test_host_header(self):
        self.write("mm/buddy.cpp", "#include <vector>\n")
        self.assert_found("headers", "mm/buddy.cpp:1", "<vector>")

    def test_allowed_headers(self):
        self.write("mm/buddy.cpp", '#include <span>\n#include <boost/intrusive/list.hpp>\n#include "lib/types.hpp"\n')
        self.write("tests/host/mm/buddy_test.cpp", "#include <vector>\n")
        self.assertEqual(self.found("headers"), [])

    def test_other_boost(self):
        self.write("kernel/smp.cpp", "#include <boost/container/vector.hpp>\n")
        self.assert_found("headers", "boost/container")

    def test_unrooted_include(self):
        self.write("mm/buddy.cpp", '#include "buddy.hpp"\n')
        self.assert_found("headers", "not a path from the root")

    def test_missing_pragma_once(self):
        self.write("lib/types.hpp", "// #pragma once\n")
        self.assert_found("headers", "no #pragma once")


class AssemblyTest(PlantedTree):
    def test_inline_assembly(self):
        self.write("mm/walker.cpp", "void f() {\n  asm volatile(\"dsb ish\");\n}\n")
        self.assert_found("assembly", "mm/walker.cpp:2", "inline assembly")

    def test_system_register(self):
        self.write("kernel/smp.cpp", "auto x = read(MPIDR_EL1);\n")
        self.assert_found("assembly", "MPIDR_EL1")

    def test_words_in_comments_and_strings_are_fine(self):
        self.write("lib/a.cpp", '// asm, TTBR1_EL1\n/* asm\n asm */ auto s = "TCR_EL1 asm"; auto n = 1\'000;\n')
        self.assertEqual(self.found("assembly"), [])

    def test_assembly_file(self):
        self.write("kernel/switch.S", "ret\n")
        self.assert_found("assembly", "kernel/switch.S")

    def test_hw_is_free(self):
        self.write("arch-arm64/hw/mmu.cpp", 'void f() { asm("isb"); }\n')
        self.assertEqual(self.found("assembly"), [])


class PreprocessorTest(PlantedTree):
    def test_condition(self):
        self.write("mm/a.hpp", "#pragma once\n#  ifdef DEBUG\n#  endif\n")
        self.assert_found("preprocessor", "mm/a.hpp:2", "#ifdef")

    def test_constant(self):
        self.write("mm/a.hpp", "#define PAGE_SIZE 4096\n#define ATOLL_ASSERT(c) (c)\n")
        self.assert_found("preprocessor", "#define PAGE_SIZE")

    def test_configuration_headers_are_free(self):
        self.write("lib/config.hpp", "#ifndef A\n#define A 1\n#endif\n")
        self.assertEqual(self.found("preprocessor"), [])


class SizeTest(PlantedTree):
    def test_long_file(self):
        self.write("mm/a.cpp", "\n" * (size.LIMIT + 1))
        self.assert_found("size", "401 lines")

    def test_limit_itself_is_fine(self):
        self.write("mm/a.cpp", "\n" * size.LIMIT)
        self.assertEqual(self.found("size"), [])


class MirrorTest(PlantedTree):
    def test_unit_without_test(self):
        self.write("mm/buddy.hpp", HEADER)
        self.write("mm/buddy.cpp", "")
        self.assert_found("mirror", "tests/host/mm/buddy_test.cpp")

    def test_test_without_unit(self):
        self.write("tests/host/mm/buddy_test.cpp", "")
        self.assert_found("mirror", "tests a unit that is not there (mm/buddy)")

    def test_pairs_and_split_tests(self):
        self.write("mm/walker.hpp", HEADER)
        self.write("tests/host/mm/walker_protect_test.cpp", "")
        self.assertEqual(self.found("mirror"), [])

    def test_hardware_and_seam_are_free(self):
        self.write("arch-arm64/hw/gic.cpp", "")
        self.write("arch-arm64/include/arch/cpu.hpp", HEADER)
        self.write("kernel/main.cpp", "")
        self.assertEqual(self.found("mirror"), [])


class FormatTest(PlantedTree):
    def setUp(self):
        super().setUp()
        shutil.copy(lint.ROOT / ".clang-format", self.root)

    def test_badly_formatted(self):
        self.write("lib/a.cpp", "int  f( ){return 1;}\nint  g( ){return 1;}\n")
        self.assert_found("format", "lib/a.cpp:1", "not formatted")

    def test_well_formatted(self):
        self.write("lib/a.cpp", "int f() { return 1; }\n")
        self.assertEqual(self.found("format"), [])

    def test_missing_tool_is_said(self):
        self.write("lib/a.cpp", "int f() { return 1; }\n")
        tool, format_rule.TOOL = format_rule.TOOL, "clang-format-none"
        self.addCleanup(setattr, format_rule, "TOOL", tool)
        self.assert_found("format", "not installed")


class CommitsTest(PlantedTree):
    def test_subjects(self):
        for good in ("mm: walk tables at all granules", "ci, tools: install what is missing",
                     "arch-arm64/hw: mask IRQs before the switch", "x: " + "y" * 69):
            self.assertIsNone(commits.problem(good), good)
        for bad in ("Walk tables", "mm walk tables", "mm:walk", "Mm: walk", "mm: walk.", "mm: ", "fixup! mm: walk",
                    "x: " + "y" * 70):
            self.assertIsNotNone(commits.problem(bad), bad)

    def test_history(self):
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "lib: a good subject")
        self.git("commit", "-q", "--allow-empty", "-m", "Oops")
        self.assert_found("commits", "commit ", "area: what it does", "Oops")

    def test_no_history_yet(self):
        self.git("init", "-q")
        self.assertEqual(self.found("commits"), [])


class TextTest(PlantedTree):
    def test_trailing_space(self):
        self.write("README.md", "a \n")
        self.assert_found("text", "README.md:1", "space at the end")

    def test_no_line_break_at_the_end(self):
        self.write("README.md", "a\nb")
        self.assert_found("text", "README.md:2", "no line break")

    def test_note_to_self(self):
        self.write("lib/a.cpp", "// TO" + "DO: later\n")
        self.assert_found("text", "left in")

    def test_long_line_of_code(self):
        self.write("lib/a.hpp", "// " + "x" * 118 + "\n")
        self.write("docs/a.md", "x" * 500 + "\n")
        self.assert_found("text", "lib/a.hpp:1", "121 columns")

    def test_path_of_a_home_folder(self):
        self.write("docs/a.md", "see /" + "home/someone/atoll\n")
        self.assert_found("text", "path of one machine")

    def test_path_beside_this_checkout(self):
        self.write("deep/er/docs/a.md", f"see {self.root}/deep/other\n")
        tree = Tree(self.root / "deep" / "er")
        self.assertEqual(["names a path of one machine"], [f.message for f in lint.run(tree, ["text"])])

    def test_system_paths_and_binaries_are_fine(self):
        self.write("docs/a.md", "in /usr/include/boost\n")
        (self.root / "a.bin").write_bytes(b"\0 \n")
        self.assertEqual(self.found("text"), [])


class PythonTest(PlantedTree):
    def test_syntax_error(self):
        self.write("tools/a.py", "x = 1\ndef f(:\n")
        self.assert_found("python", "tools/a.py:2", "does not compile")

    def test_script_without_suffix(self):
        self.write("tools/run", "#!/usr/bin/env python3\nif\n")
        self.assert_found("python", "tools/run:2")


class LinksTest(PlantedTree):
    def test_dead_link(self):
        self.write("docs/a.md", "[b](b.md) [web](https://example.org) [top](#a)\n")
        self.assert_found("links", "docs/a.md:1", "b.md")

    def test_document_named_in_code(self):
        self.write("docs/decisions/0003-locks.md", "")
        self.write("mm/a.hpp", "// docs/decisions/0003\n// docs/decisions/0004, DESIGN.md section 4\n")
        self.assertEqual(len(self.found("links")), 2)

    def test_live_link(self):
        self.write("docs/a.md", "[b](../b.md#part)\n")
        self.write("b.md", "")
        self.assertEqual(self.found("links"), [])


class LayoutTest(PlantedTree):
    def plant(self, document):
        self.write("tools/layout_table.cpp", '#include <cstdio>\nint main() { std::puts("| a | b |"); }\n')
        self.write("docs/memory-layout.md", document)

    def test_stale_table(self):
        self.plant("# Layout\n<!-- tables: begin -->\n| a | c |\n<!-- tables: end -->\n")
        self.assert_found("layout", "docs/memory-layout.md:3", "| a | b |")

    def test_row_too_many(self):
        self.plant("<!-- tables: begin -->\n| a | b |\n| c | d |\n<!-- tables: end -->\n")
        self.assert_found("layout", "docs/memory-layout.md:3", "(ends here)")

    def test_same_table(self):
        self.plant("<!-- tables: begin -->\n| a | b |\n<!-- tables: end -->\n")
        self.assertEqual(self.found("layout"), [])

    def test_no_table(self):
        self.plant("# Layout\n")
        self.assert_found("layout", "no lines")

    def test_program_that_does_not_compile(self):
        self.plant("<!-- tables: begin -->\n<!-- tables: end -->\n")
        self.write("tools/layout_table.cpp", "int main( {}\n")
        self.assert_found("layout", "cannot be run", "error")


class ExceptionsTest(PlantedTree):
    def setUp(self):
        super().setUp()
        self.write("mm/a.hpp", HEADER)
        self.findings = list(lint.RULES["mirror"].check(Tree(self.root)))

    def applied(self, text):
        self.write(exceptions.FILE, text)
        return [str(f) for f in exceptions.apply(Tree(self.root), self.findings)]

    def test_excused(self):
        self.assertEqual(self.applied("# list\n\nmirror mm/a.hpp  held elsewhere\n"), [])
        self.assertEqual(self.applied("mirror mm/*  held elsewhere\n"), [])

    def test_another_rule_is_not_excused(self):
        self.assertEqual(len(self.applied("size mm/a.hpp  held elsewhere\n")), 2)

    def test_without_reason(self):
        self.assertEqual(len(self.applied("mirror mm/a.hpp\n")), 2)

    def test_stale(self):
        findings = self.applied("mirror mm/a.hpp  yes\nmirror mm/gone.hpp  once\n")
        self.assertEqual(len(findings), 1)
        self.assertIn("exceptions.txt:2: exceptions: mirror has nothing to excuse in mm/gone.hpp", findings[0])


class CommandTest(PlantedTree):
    def lint(self, *arguments):
        command = [sys.executable, "-m", "tests.lint.lint", "--root", str(self.root), *arguments]
        return subprocess.run(command, cwd=lint.ROOT, capture_output=True, text=True, check=False)

    def test_findings_are_counted_and_fail(self):
        self.write("mm/a.hpp", "")
        done = self.lint("--rule", "mirror", "--rule", "headers")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines()[-1], "2 findings")
        self.assertIn("mm/a.hpp:1: headers: no #pragma once", done.stdout)

    def test_clean_tree_passes(self):
        self.write("README.md", "x\n")
        done = self.lint()
        self.assertEqual((done.returncode, done.stdout), (0, "0 findings\n"))


if __name__ == "__main__":
    unittest.main()
