"""tools/check_sequences: planted disassembly, of which every rule accepts the right form and refuses wrong ones."""

import unittest

from tools.check_sequences import findings
from tools.disassembly import parse

# One right instance of everything that an image has to have.
SOUND = {
    "switch_root": """mrs x2, daif; msr daifset, #0xf
        msr ttbr1_el1, x0; isb; tlbi vmalle1; dsb nsh; isb; msr ttbr1_el1, x1; isb; msr daif, x2; ret""",
    "_ZN3atl4arch14tlb_flush_pageE": "dsb ishst; tlbi vaae1is, x0; dsb ish; isb; ret",
    "_ZN3atl4arch19tlb_flush_all_localEv": "dsb nshst; tlbi vmalle1; dsb nsh; isb; ret",
    "send_sgi": "dsb ishst; mov x1, x0; msr icc_sgi1r_el1, x1; isb; ret",
    "sync_instructions": """dc cvau, x0; add x0, x0, x4; cmp x5, x0; b.hi @0; dsb ish
        mrs x0, ctr_el0; b.ls @10; ic ivau, x0; add x0, x0, x3; b.hi @7; dsb ish; isb; ret""",
    "receive_sgi": "mrs x0, icc_iar1_el1; dsb sy; ret",
    "wait": "dsb sy; wfi; ret",
    "irq_enable": "msr daifclr, #0x2; isb; ret",
    "primary_entry": "msr daifset, #0xf; msr spsel, #0x1; mov x19, x0; ret",
    "secondary_entry": "msr daifset, #0xf; msr spsel, #0x1; mov x19, x0; ret",
    "drop_to_el1": "mov x0, #0x80000000; msr hcr_el2, x0; isb; msr sctlr_el1, x1; mov x0, #0x3c5; eret",
    "enable_mmu": """tlbi vmalle1; dsb nsh; ldr x3, 40; msr mair_el1, x3; msr ttbr0_el1, x0; msr ttbr1_el1, x1; isb
        msr sctlr_el1, x3; isb; ic iallu; dsb nsh; isb; ret""",
    "clean_to_poc": "dc civac, x0; add x0, x0, x1; cmp x0, x2; b.lo @0; dsb sy; ret",
    "translate": "at s1e1r, x0; isb; mrs x0, par_el1; ret",
    "timer_ticks": "isb; mrs x0, cntvct_el0; ret",
    "_ZN3atl2mm11KernelRootsINS_6LayoutEE7installEmm": """bl 4; cbz x0, @9; dsb ishst; bl 4; str x21, [x0]
        subs x1, x1, #1; b.ne @3; dsb ishst; isb; ret""",
}


def listing(functions):
    """What objdump would print; `@n` is the function's n-th instruction."""
    lines, start = [], 0x1000
    for name, code in functions.items():
        lines += ["", f"{start:016x} <{name}>:"]
        instructions = [part.strip() for line in code.splitlines() for part in line.split(";")]
        for i, text in enumerate(instructions):
            mnemonic, _, operands = text.partition(" ")
            before, at, index = operands.partition("@")
            if at:
                operands = f"{before}{start + 4 * int(index):x} <{name}+{4 * int(index):#x}>  // b.pmore"
            lines.append(f"{start + 4 * i:16x}:\t{mnemonic}" + (f"\t{operands}" if operands else ""))
        start += 0x1000
    return "\n".join(lines)


def check(library=(), **changed):
    return list(findings(parse(listing({**SOUND, **changed})), set(library)))


class CheckSequences(unittest.TestCase):
    def accepts(self, code, name="f", **more):
        self.assertEqual(check(**{name: code}, **more), [])

    def refuses(self, code, message, name="f"):
        # `code` may take the place of the image's only instruction of another kind.
        found = [message for message in check(**{name: code}) if not message.startswith("no instruction")]
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_sound_code_passes(self):
        self.assertEqual(check(), [])


class Case34Barriers(CheckSequences):
    def test_tlbi_without_a_barrier_before(self):
        self.refuses("str x1, [x0]; tlbi vaae1is, x2; dsb ish; isb; ret",
                     "f+0x4: tlbi vaae1is, x2: no dsb ishst before it: `str x1, [x0]`")

    def test_store_between_barrier_and_tlbi(self):
        self.refuses("dsb ishst; str xzr, [x0]; tlbi vmalle1is; dsb ish; isb; ret", "no dsb ishst before it")

    def test_atomic_store_counts_as_a_store(self):
        self.refuses("dsb ishst; swp x1, x2, [x0]; tlbi vmalle1is; dsb ish; isb; ret", "no dsb ishst before it")

    def test_barrier_of_loads_orders_no_store(self):
        self.refuses("dsb ishld; tlbi vmalle1is; dsb ish; isb; ret", "no dsb ishst before it")

    def test_one_path_without_the_barrier(self):
        self.refuses("cbz x0, @2; dsb ishst; tlbi vmalle1is; dsb ish; isb; ret",
                     "no dsb ishst before it: the function's start")

    def test_broadcast_waited_for_on_this_cpu_alone(self):
        self.refuses("dsb ishst; tlbi vmalle1is; dsb nsh; isb; ret", "no dsb ish after it")

    def test_tlbi_not_waited_for(self):
        self.refuses("dsb ishst; tlbi vmalle1is; ret", "no dsb ish after it: the function's end")

    def test_tlbi_without_isb(self):
        self.refuses("dsb ishst; tlbi vmalle1is; dsb ish; ret", "no isb after it")

    def test_isb_before_the_dsb_does_not_count(self):
        self.refuses("dsb ishst; tlbi vmalle1is; isb; dsb ish; ret", "no isb after it")

    def test_batch_of_tlbis_shares_its_barriers(self):
        self.accepts("dsb ishst; tlbi vaae1is, x0; add x0, x0, #1; cmp x0, x1; b.ne @1; dsb ish; isb; ret")

    def test_range_tlbi(self):
        self.refuses("tlbi rvaae1is, x0; dsb ish; isb; ret", "no dsb ishst before it")

    def test_stronger_barriers_do(self):
        self.accepts("dsb sy; tlbi vmalle1is; dsb sy; isb; ret")

    def test_local_tlbi_without_isb(self):
        self.refuses("tlbi vmalle1; dsb nsh; ret", "no isb after it", name="enable_mmu")

    def test_local_tlbi_elsewhere(self):
        self.refuses("dsb ishst; tlbi vaae1, x0; dsb ish; isb; ret", "tlbi vaae1, x0: not allowed here")

    def test_sgi_without_a_barrier(self):
        self.refuses("str x1, [x0]; msr icc_sgi1r_el1, x2; ret", "no dsb ishst before it")

    def test_sgi_by_encoding(self):
        self.refuses("msr s3_0_c12_c11_5, x2; ret", "no dsb ishst before it")

    def test_sgi_of_group_0(self):
        self.refuses("str x1, [x0]; msr icc_sgi0r_el1, x2; ret", "no dsb ishst before it")
        self.refuses("msr s3_0_c12_c11_7, x2; ret", "no dsb ishst before it")

    def test_barrier_in_a_callee_is_not_known(self):
        self.refuses("dsb ishst; bl 4; msr icc_sgi1r_el1, x2; ret", "no dsb ishst before it: `bl 4`")

    def test_wfi_without_a_barrier(self):
        self.refuses("msr daifset, #0x2; wfi; b @1", "no dsb before it")

    def test_loop_of_wfi(self):
        self.accepts("dsb sy; wfi; b @1")


    def test_acknowledgement_without_a_barrier(self):
        self.refuses("mrs x0, icc_iar1_el1; ldr x1, [x2]; dsb sy; ret", "no dsb sy after it: `ldr x1, [x2]`")

    def test_acknowledgement_of_group_0(self):
        for name in ("icc_iar0_el1", "s3_0_c12_c8_0"):
            self.refuses(f"mrs x0, {name}; ret", "no dsb sy after it")

    def test_unmasking_that_may_take_no_interrupt(self):
        self.refuses("msr daifclr, #0x2; msr daifset, #0x2; ret", "no isb after it")

    def test_fiqs_masked(self):
        for mask in ("0x1", "0x3", "0xf"):
            self.refuses(f"msr daifset, #{mask}; ret", f"msr daifset, #{mask}: not allowed here")
        self.accepts("msr daifset, #0x2; ret")

    def test_counter_read_early(self):
        self.refuses("isb; ldr x1, [x2]; mrs x0, cntvct_el0; ret", "no isb before it: `ldr x1, [x2]`")

    def test_translation_read_early(self):
        self.refuses("at s1e1r, x0; mrs x0, par_el1; ret", "no isb after it: the function's end")

    def test_isb_after_the_result_is_too_late(self):
        self.refuses("at s1e1r, x0; mrs x0, par_el1; isb; ret", "no mrs xN, par_el1 after it")


class CacheMaintenance(CheckSequences):
    def test_cleaning_for_a_cpu_without_mmu_not_waited_for(self):
        self.refuses("dc civac, x0; ret", "no dsb sy after it")

    def test_cleaning_waited_for_in_the_inner_domain_only(self):
        self.refuses("dc civac, x0; dsb ish; ret", "no dsb sy after it")

    def test_whole_instruction_cache(self):
        self.refuses("ic iallu; isb; ret", "no dsb nsh after it")

    def test_cleaning_not_waited_for(self):
        self.refuses("dc cvau, x0; ret", "no dsb ish after it")

    def test_invalidation_before_the_cleaning_is_done(self):
        self.assertEqual(len(check(f="dc cvau, x0; ic ivau, x1; dsb ish; isb; ret")), 2)

    def test_invalidation_without_isb(self):
        self.refuses("dsb ish; ic ivau, x1; dsb ish; ret", "no isb after it")

    def test_invalidation_not_waited_for(self):
        self.refuses("dsb ish; ic ivau, x1; isb; ret", "no dsb ish after it")


class Case35Roots(CheckSequences):
    def test_switch_without_the_zero_root(self):
        self.refuses("tlbi vmalle1; dsb nsh; isb; msr ttbr1_el1, x1; isb; ret", "switch_root+0x0", name="switch_root")

    def test_switch_that_flushes_before_the_zero_root(self):
        self.refuses("tlbi vmalle1; dsb nsh; isb; msr ttbr1_el1, x0; isb; msr ttbr1_el1, x1; isb; ret", "is not `msr",
                     name="switch_root")

    def test_switch_to_the_zero_root_last(self):
        self.refuses("""msr ttbr1_el1, x1; isb; tlbi vmalle1; dsb nsh; isb; msr ttbr1_el1, x0; isb; ret""",
                     "is not `msr", name="switch_root")

    def test_switch_that_may_be_interrupted(self):
        self.refuses("msr ttbr1_el1, x0; isb; tlbi vmalle1; dsb nsh; isb; msr ttbr1_el1, x1; isb; ret", "is not `msr",
                     name="switch_root")

    def test_root_written_elsewhere(self):
        self.refuses("msr ttbr1_el1, x0; isb; ret", "msr ttbr1_el1, x0: not allowed here")

    def test_mmu_on_before_the_tlb_is_empty(self):
        self.refuses("tlbi vmalle1; msr sctlr_el1, x3; isb; dsb nsh; isb; ret", "no dsb nsh after it: `msr sctlr_el1",
                     name="enable_mmu")

    def test_mmu_on_before_the_root_is_seen(self):
        self.refuses("msr ttbr1_el1, x1; msr sctlr_el1, x3; isb; ret", "no isb after it: `msr sctlr_el1",
                     name="enable_mmu")

    def test_flush_before_the_root_is_seen(self):
        self.refuses("msr ttbr0_el1, x0; tlbi vmalle1; dsb nsh; isb; ret", "no isb after it: `tlbi vmalle1`",
                     name="drop_identity_map")

    def test_access_between_root_and_isb(self):
        self.refuses("msr ttbr0_el1, x0; ldr x1, [x2]; isb; ret", "no isb after it: `ldr x1, [x2]`")


class Entries(CheckSequences):
    def test_entry_that_masks_late(self):
        self.refuses("mov x19, x0; msr daifset, #0xf; msr spsel, #0x1; ret", "does not begin with `msr daifset, #0xf",
                     name="primary_entry")

    def test_entry_on_the_stack_pointer_that_was_selected(self):
        self.refuses("msr daifset, #0xf; mov x19, x0; ret", "does not begin with `msr daifset, #0xf; msr spsel, #0x1`",
                     name="secondary_entry")

    def test_interrupts_alone_are_not_everything(self):
        self.refuses("msr daifset, #0x2; msr spsel, #0x1; ret", "does not begin with", name="primary_entry")

    def test_control_register_while_e2h_may_be_set(self):
        self.refuses("msr hcr_el2, x0; msr sctlr_el1, x1; isb; ret", "no isb after it: `msr sctlr_el1, x1`",
                     name="drop_to_el1")


class Case21Install(CheckSequences):
    NAME = "_ZN3atl2mm11KernelRootsINS_6LayoutEE13install_localEjmm"

    def test_table_not_published(self):
        self.refuses("str x1, [x0]; dsb ishst; isb; ret", "no dsb ishst before the descriptors", name=self.NAME)

    def test_descriptor_not_published(self):
        self.refuses("dsb ishst; str x1, [x0]; ret", "no `dsb ishst; isb` after the descriptors", name=self.NAME)

    def test_path_that_does_not_publish(self):
        self.refuses("dsb ishst; str x1, [x0]; cbz x2, @5; dsb ishst; isb; ret",
                     "no `dsb ishst; isb` after the descriptors", name=self.NAME)

    def test_panic_leads_nowhere(self):
        self.accepts("b.eq @2; bl 4 <_ZN3atl5panicIJmEEEvv>; dsb ishst; str x1, [x0]; dsb ishst; isb; ret",
                     name=self.NAME)


class Case17Registers(CheckSequences):
    def test_simd_register(self):
        for code in ("ldr q0, [x0]; ret", "fmov d1, x0; ret", "movi v0.2d, #0x0; ret", "stp q0, q1, [sp]; ret"):
            self.refuses(code, "SIMD or floating-point register")

    def test_library(self):
        self.accepts("ldr q0, [x0]; ret", name="fdt_open", library=["fdt_open"])

    def test_addresses_are_no_registers(self):
        self.accepts("b d8; ret")
        self.accepts("mov x0, #0xd8; ret")


class Understanding(CheckSequences):
    def test_empty_listing(self):
        found = "\n".join(findings(parse(""), set()))
        for what in ("no instruction `ic ivau`", "no function switch_root", "no function primary_entry",
                     "no function KernelRoots::install"):
            self.assertIn(what, found)

    def test_image_without_sgis(self):
        self.assertEqual(check(send_sgi="ret"), ["no instruction `msr icc_sgi1r_el1` in the image"])


if __name__ == "__main__":
    unittest.main()
