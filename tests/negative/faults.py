"""Planted faults and what must catch each: the test that must fail, and what it must say.

A fault may be held against several tests. One without an entry is an error: a fault that no test is held
against is no evidence of anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from tests.qemu.build import ROOT, Build
from tests.qemu.matrix import Boot, Check, boots

FAULT_HEADER = ROOT / "lib/fault.hpp"


@dataclass(frozen=True)
class HostFault:
    """Caught by a GoogleTest test. `test` is its full name or a glob over a test's instances, `source` its
    file below tests/host, `message` a regular expression in its output."""

    name: str
    test: str
    source: str
    message: str


@dataclass(frozen=True)
class KernelFault:
    """Caught by a selftest on the machine given by `build` (its fault is filled in) and `machine`, which are
    the fields of a `Boot`. `message` is a regular expression in the failure's message."""

    name: str
    test: str
    message: str
    build: Build = Build()
    machine: dict[str, str] = field(default_factory=dict)

    def boot(self, planted: bool) -> Boot:
        """The boot that runs just the named test, with the fault or without."""
        return _boot(self, planted, command_line=f"run=selftest,poweroff selftest={self.test}", **self.machine)


@dataclass(frozen=True)
class OutsideFault:
    """Caught by the comparison of roots from outside the guest (tests/qemu/outside.py), while the one selftest
    that runs before it passes. `message` is a regular expression in a problem that it reports."""

    name: str
    message: str
    test: str = "compare_roots"
    build: Build = Build()
    machine: dict[str, str] = field(default_factory=dict)

    def boot(self, planted: bool) -> Boot:
        """The boot that is looked at, with the fault or without."""
        return _boot(self, planted, command_line="run=selftest selftest=pages_come_back", check=Check.OUTSIDE,
                     **self.machine)


@dataclass(frozen=True)
class BootFault:
    """Caught by the check of a boot of the matrix, which `test` names. `message` is a regular expression in a
    problem that it reports."""

    name: str
    test: str
    message: str

    def boot(self, planted: bool) -> Boot:
        """That boot, with the fault or without."""
        boot = next(boot for boot in boots() if boot.name == self.test)
        return replace(boot, name=f"{self.name}.{self.test}.{'planted' if planted else 'control'}",
                       build=replace(boot.build, fault=self.name) if planted else boot.build)


def _boot(fault: KernelFault | OutsideFault, planted: bool, **machine: object) -> Boot:
    build = replace(fault.build, fault=fault.name) if planted else fault.build
    name = f"{fault.name}.{fault.test}.{fault.build.name}.{'planted' if planted else 'control'}"
    return Boot(name=name, build=build, **machine)  # type: ignore[arg-type]


# Those that a boot's own check must catch, and all.
CheckedFault = OutsideFault | BootFault
Fault = HostFault | KernelFault | CheckedFault


_MUTANTS = "DeviceTreeMutation.MutantsKeepTheInvariants"
_MUTATION_TEST = "kernel/device_tree_mutation_test.cpp"

FAULTS: tuple[Fault, ...] = (
    # QEMU keeps pages larger than 4 KiB as one region and drops its whole TLB for an address in it, so no
    # selftest can show a wrong operand under emulation.
    HostFault("tlbi_shift_by_page", "TlbiOperand/1.Case20_ShiftIsTwelveAtEveryGranule",
              "arch-arm64/tlbi_test.cpp", "TLBI operand is not VA >> 12 at 16K"),
    HostFault("tlbi_shift_by_page", "TlbiOperand/2.Case20_ShiftIsTwelveAtEveryGranule",
              "arch-arm64/tlbi_test.cpp", "TLBI operand is not VA >> 12 at 64K"),
    KernelFault("tlbi_not_broadcast", "case34_unmap_is_seen_by_every_cpu",
                r"CPU \d still reads the page unmapped from"),
    HostFault("sync_skips_one_cpu", "KernelRootsTest/0.InstallReachesMasterAndEveryCpu",
              "mm/kernel_roots_test.cpp", r"CPU \d+ of \d+ misses slot"),
    KernelFault("sync_skips_one_cpu", "new_top_level_slot_reaches_every_root",
                "CPU 3 does not see the slot that was installed at"),
    KernelFault("sync_skips_one_cpu", "roots_equal_the_master_outside_the_window",
                "CPU 3: slot at 0x[0-9a-f]+ is 0x0, the master's 0x"),
    OutsideFault("sync_skips_one_cpu", r"CPU 3: root slots \[.*\] differ from CPU 0's"),
    HostFault("second_redistributor", "GicV3Registers.Case1_FindsEveryFrameInEveryRegion",
              "arch-arm64/gic_v3_registers_test.cpp", "redistributors found in 2 regions"),
    KernelFault("second_redistributor", "case01_every_possible_cpu_is_online",
                r"CPU 123 \(MPIDR 0x70b\): has no part in the interrupt controller", machine={"smp": "124"}),
    HostFault("shared_window", "PerCpuWindowsTest/0.LocalWindowIsTheCpusOwnUnit",
              "mm/percpu_windows_test.cpp", r"CPU \d+ sees another CPU's unit"),
    KernelFault("shared_window", "case01_every_possible_cpu_is_online",
                r"CPU 3 \(MPIDR 0x3\): its local window shows another CPU's number"),
    OutsideFault("shared_window", "CPUs 2 and 3 have one frame in the window"),
    HostFault("accessor_width", "PerCpuAccessorTest/1.OperationsKeepToTheirWord",
              "percpu/accessor_test.cpp", "16-bit write wrote beside its word"),
    KernelFault("accessor_width", "percpu_operations_keep_to_their_word",
                r"16-bit write on CPU \d wrote beside its word"),
    KernelFault("root_switch_keeps_tlb", "case24_no_boot_translation_survives",
                "a translation of the boot root was still used after the switch"),
    HostFault("unit_stride", "PerCpuWindowsTest/0.WholeStaticUnitIsMappedByPagesInBothWindows",
              "mm/percpu_windows_test.cpp", r"page \d+ of CPU \d+ is not mapped"),
    KernelFault("unit_overlap", "case25_units_keep_apart",
                r"units overlap: CPU [23] has 0x[0-9a-f]+ at the end of its"),
    BootFault("percpu_shows_own", "4k-va48-local-debug.gdb-prompt",
              "the monitor shows CPU 3's number as `.*percpu::cpu_number = 0x0`"),
    BootFault("stop_not_handled", "4k-va48-local-debug.panic", "CPU 0 should have stopped 3 of 3"),
    # QEMU's GICC_EOIR does not look at the sender.
    HostFault("sgi_ended_without_sender", "GicV2Registers.Case4_AnSgiIsEndedWithItsSender",
              "arch-arm64/gic_v2_registers_test.cpp", "the sender is missing in GICC_EOIR"),
    BootFault("stop_is_maskable", "4k-va48-local-debug.panic-masked", "CPU 0 should have stopped 3 of 3"),
    KernelFault("irq_save_masks_fiq", "cpus_with_irqs_masked_take_an_nmi",
                r"CPU \d masks IRQs and does not take an NMI"),
    BootFault("first_message_lost", "4k-va48-local-debug.panic-nested",
              "`panic: fault inside the report: .*` is not `panic: requested by"),
    BootFault("overflow_taken_for_abort", "4k-va48-local-debug.panic-overflow",
              r"`panic: data abort, .*` is not `panic: kernel stack overflow"),
    HostFault("sgi_ignores_cluster", "Sgi.Case2_ClusterIsPartOfTheTarget",
              "arch-arm64/mpidr_test.cpp", "SGI request lost Aff1"),
    HostFault("mpidr_as_index", "CpuMap.Case3_NumbersFollowTheTreeAcrossClusters",
              "arch-arm64/mpidr_test.cpp", "logical CPU number is not the device-tree order"),
    HostFault("disabled_memory_used", "DeviceTree.Case9_DisabledMemoryIsSkipped",
              "kernel/device_tree_test.cpp", "disabled memory was added"),
    HostFault("granule_field_misread", "IdRegisters.Case18_Gran4WithLpa2IsSupported",
              "arch-arm64/id_registers_test.cpp", "TGran4 = 1 read as unsupported"),
    HostFault("physical_range_unclamped", "Tcr.Case19_OutputSizeIsAtMostFortyEightBits",
              "arch-arm64/tcr_test.cpp", "IPS above 48 bits"),
    HostFault("break_before_make_skipped", "TableMemory.Case35_ValidToValidPanicsWithAddressOldAndNew",
              "mm/table_memory_test.cpp", "break-before-make: 0xffff000000200000 from"),
    KernelFault("spinner_masks_ipi", "case44_waiting_cpus_serve_calls",
                "CPU 1 does not serve calls while it waits for its own"),
    HostFault("reservation_rounded_inward", "MemoryMap.Case12_ReservationsAreRoundedOutward",
              "mm/memory_map_test.cpp", "a partly reserved page is free at page size"),
    BootFault("reservation_rounded_inward", "64k-va48-local-debug.case12-reservations",
              "the byte at 0x42000000 was overwritten"),
    HostFault("ram_not_trimmed", "MemoryMap.Case10_OddSizesAreTrimmedInward",
              "mm/memory_map_test.cpp", "the tail of a bank is used"),
    HostFault("bank_overlap_unmerged", "MemoryMap.Case9_SixtyFourBanksInAnyOrderGiveTheExactTotal",
              "mm/memory_map_test.cpp", "64 banks have a wrong total"),
    HostFault("reservation_dropped", "MemoryMap.Case12_ReservationsThatDoNotFitAreJoinedWithANeighbour",
              "mm/memory_map_test.cpp", "reserved memory is free"),
    HostFault("no_map_hides_kernel", "MemoryMap.Case12_NoMapOverTheKernelIsOnlyReserved",
              "mm/memory_map_test.cpp", "no-map took the kernel's own memory"),
    HostFault("no_map_hides_kernel", _MUTANTS, _MUTATION_TEST, "the kernel at 0x40200000 is not mapped"),
    HostFault("no_map_lifted_whole", "MemoryMap.Case12_NoMapOverTheKernelIsOnlyReserved",
              "mm/memory_map_test.cpp", "no-map beside the kernel is mapped"),
    HostFault("join_hides_initrd", "MemoryMap.Case12_NoJoinHidesWhatTheLoaderPlaced",
              "mm/memory_map_test.cpp", "a join took the initrd out of the linear map"),
    HostFault("vast_bank_dropped", "FdtMemoryTest.ABankOfNearlyEverythingIsUsedAsFarAsItCanBe",
              "kernel/fdt_memory_test.cpp", "a vast bank was dropped"),
    HostFault("initrd_unchecked", "FdtMemoryTest.AnInitrdThatCannotBeOneIsNamedAndIgnored",
              "kernel/fdt_memory_test.cpp", "an impossible initrd was taken: it overlaps the device tree"),
    HostFault("initrd_unchecked", _MUTANTS, _MUTATION_TEST, "the initrd at 0x[0-9a-f]+ (is not RAM|overlaps)"),
    HostFault("registers_left_in_ram", "FdtMemoryTest.RegistersInsideABankAreNoRam",
              "kernel/fdt_memory_test.cpp", "the GIC's registers are free RAM"),
    HostFault("registers_over_kernel", "DeviceTreeRegisters.RegistersOverKernelOrTreeAreNotUsed",
              "kernel/device_tree_registers_test.cpp", "a GIC over the kernel was taken"),
    HostFault("gic_frame_unchecked", "DeviceTreeRegisters.AGicIsAlignedAndHasRoomForItsRegisters",
              "kernel/device_tree_registers_test.cpp", "an impossible GIC was taken"),
    HostFault("memory_entries_unbounded", "FdtMemoryTest.ATreeOfTooManyEntriesIsRefused",
              "kernel/fdt_memory_test.cpp", "more entries were read than a tree may have"),
    HostFault("ranges_unbounded", "DeviceTreeRegisters.RangesAreSearchedUpToABound",
              "kernel/device_tree_registers_test.cpp", "range 256 was found"),
    HostFault("interrupt_entries_unbounded", "FdtInterruptTest.EntriesArePassedOverUpToABound",
              "kernel/fdt_interrupt_test.cpp", "entry 33 was found"),
    HostFault("notes_unbounded", "FdtNotes.AreBoundedAndTheConclusionIsTheLastLine",
              "kernel/fdt_notes_test.cpp", "1000 remarks were written"),
    HostFault("uart_unidentified", "Pl011Registers.NothingElseDoes",
              "arch-arm64/pl011_registers_test.cpp", "other registers pass for a PL011's"),
    HostFault("boot_page_handed_over", "BootAllocator.HandsOverExactlyThePagesItDidNotTouch",
              "mm/boot_allocator_test.cpp", "the buddy allocator gets a page that is in use"),
    HostFault("buddy_order_unchecked", "Buddy.AFreeBuddyOfLowerOrderIsNotWhole",
              "mm/buddy_test.cpp", "joined with a buddy that is partly in use"),
    HostFault("buddy_double_free_unchecked", "Buddy.DoubleFreePanics",
              "mm/buddy_test.cpp", "a double free went unnoticed"),
    HostFault("control_characters_printed", "Format.TextFromOutsideDoesNotReachTheTerminal",
              "lib/format_test.cpp", "control characters of an argument were written"),
    # The mutants find these by themselves.
    HostFault("control_characters_printed", _MUTANTS, _MUTATION_TEST, "notes contain the control character"),
    HostFault("reg_wraps", _MUTANTS, _MUTATION_TEST, r"lies beyond 52 bits: 0x[0-9a-f]+ bytes at"),
    HostFault("reservation_rounded_inward", _MUTANTS, _MUTATION_TEST, "reservation at 0x[0-9a-f]+ is no whole pages"),
    HostFault("bank_overlap_unmerged", _MUTANTS, _MUTATION_TEST, "is out of order, or touches the bank before"),
    HostFault("preempt_request_ignored", "PreemptTest.RequestIsServedWhenTheLastSectionEnds",
              "percpu/preempt_test.cpp", "preempt_enable did not serve the request"),
    KernelFault("preempt_request_ignored", "preempt_request_is_served_when_enabled",
                "preempt_enable did not serve the request"),
    HostFault("alias_is_local", "PerCpuTest.HereIsTheExecutingCpusCopyByItsGlobalAlias",
              "percpu/percpu_test.cpp", r"here\(\) gave a local address"),
    KernelFault("alias_is_local", "case26_references_are_global_aliases",
                r"here\(\) gave a local address"),
    HostFault("lse_patch_keeps_tail", "LsePatch.ReplacesEachLoopAndFillsWithNops",
              "percpu/lse_patch_test.cpp", "the loop's tail is still there"),
    KernelFault("narrow_compare_unextended", "narrow_compare_ignores_upper_register_bits",
                r"\d+-bit cmpxchg compared the register's upper bits"),
    HostFault("psci_taken_on_trust", "Psci.Case6_AVersionIsWhatTellsPsciFromAnythingElse",
              "arch-arm64/psci_test.cpp", "an error was taken for a version"),
    BootFault("psci_taken_on_trust", "16k-va47-local-debug.case6-lies-smc",
              r"CPU 1 \(MPIDR 0x1\): refused by firmware"),
    HostFault("cpus_without_firmware", "CpuNumbering.Case6_WithoutPsciOnlyTheBootCpuIsPossible",
              "kernel/cpu_numbering_test.cpp", "CPUs are counted on that nobody can start"),
    HostFault("cpus_without_firmware", _MUTANTS, _MUTATION_TEST, "CPUs numbered, and nobody to start them"),
    KernelFault("el2_claims_psci", "case06_hvc_is_answered_only_by_firmware",
                r"CPU \d: HVC answers as PSCI: true, the conduit is smc", machine={"options": "virtualization=on"}),
    # Each waits until the boot CPU's patience ends (kernel/roll_call.hpp).
    KernelFault("cpu_on_lies", "case01_every_possible_cpu_is_online", r"CPU 3 \(MPIDR 0x3\): did not start"),
    KernelFault("ping_unanswered", "case01_every_possible_cpu_is_online",
                r"CPU 3 \(MPIDR 0x3\): did not answer an IPI"),
)


def declared() -> list[str]:
    """The names of lib/fault.hpp, in order, without `none`."""
    text = FAULT_HEADER.read_text()
    body = text[text.index("enum class Fault"):]
    names = re.findall(r"^\s+(\w+),", body[:body.index("};")], re.MULTILINE)
    return [name for name in names if name != "none"]


def unlisted() -> list[str]:
    """Faults that are declared but have no entry, and entries whose fault does not exist."""
    listed = {fault.name for fault in FAULTS}
    names = declared()
    return ([f"{name} has no entry in tests/negative/faults.py" for name in names if name not in listed]
            + [f"{name} is not in lib/fault.hpp" for name in sorted(listed - set(names))])
