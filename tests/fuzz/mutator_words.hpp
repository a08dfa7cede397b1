// What the mutator puts into trees: numbers, names and words that some code treats specially. Host only.
#pragma once

#include <array>
#include <string_view>

#include "lib/types.hpp"

namespace atl::fuzz {

/// Limits of something: a field's width, a page, the board's RAM and devices, the address space.
inline constexpr std::array kNumbers{
    u64{0},          u64{1},          u64{2},           u64{3},          u64{4},          u64{8},
    u64{16},         u64{27},         u64{0xff},        u64{0x3ff},      u64{0xfff},      u64{0x1000},
    u64{0x10000},    u64{0x1fffff},   u64{0x08000000},  u64{0x08010000}, u64{0x080a0000}, u64{0x09000000},
    u64{0x09010000}, u64{0x0a000000}, u64{0x3eff0000},  u64{0x3fffffff}, u64{0x40000000}, u64{0x40200000},
    u64{0x40210000}, u64{0x48000000}, u64{0x60000000},  u64{0x7ffff000}, u64{0x80000000}, u64{0xc0000000},
    u64{0xffffffff}, u64{1} << 32,    u64{1} << 36,     u64{1} << 40,    u64{1} << 44,    u64{1} << 48,
    u64{1} << 52,    u64{1} << 63,    ~u64{0} - 0xffff, ~u64{0} - 0xfff, ~u64{0} - 1,     ~u64{0},
};
inline constexpr std::array<u64, 10> kCellCounts{0, 1, 2, 3, 4, 5, 8, 0x7fffffff, 0x80000000, 0xffffffff};

using namespace std::string_view_literals;

/// Nodes that the kernel reads, by the part of their name before `@`. The others matter less.
inline constexpr std::array kRead{
    ""sv,        "memory"sv,
    "cpus"sv,    "cpu"sv,
    "intc"sv,    "timer"sv,
    "psci"sv,    "pl011"sv,
    "chosen"sv,  "reserved-memory"sv,
    "soc"sv,     "serial"sv,
    "uart"sv,    "interrupt-controller"sv,
    "aliases"sv,
};
/// Nodes whose registers or bytes lie somewhere.
inline constexpr std::array kPlaced{"memory"sv, "intc"sv, "pl011"sv, "serial"sv, "interrupt-controller"sv};
/// On QEMU's board: flash, GIC, UART, clock, nothing, RAM, the kernel, the tree; and beyond what it has.
inline constexpr std::array kPlaces{
    u64{0},          u64{0x08000000},    u64{0x080a0000}, u64{0x09000000}, u64{0x09010000},
    u64{0x20000000}, u64{0x40000000},    u64{0x40200000}, u64{0x48000000}, u64{0x50000000},
    u64{0x7ff00000}, u64{0x10'00000000}, u64{1} << 51,
};
/// Names of properties and nodes that the kernel looks for.
inline constexpr std::array kNames{
    "reg"sv,
    "ranges"sv,
    "compatible"sv,
    "status"sv,
    "device_type"sv,
    "interrupts"sv,
    "phandle"sv,
    "enable-method"sv,
    "interrupt-parent"sv,
    "method"sv,
    "stdout-path"sv,
    "bootargs"sv,
    "no-map"sv,
    "#address-cells"sv,
    "#size-cells"sv,
    "#interrupt-cells"sv,
    "#redistributor-regions"sv,
    "redistributor-stride"sv,
    "interrupts-extended"sv,
    "interrupt-names"sv,
    "linux,initrd-start"sv,
    "linux,initrd-end"sv,
    "cpu@0"sv,
    "memory@0"sv,
    "reserved-memory"sv,
    "cpus"sv,
    "chosen"sv,
};
/// Properties that hold one of a few words, and words for them.
inline constexpr std::array kWorded{"method"sv, "enable-method"sv, "status"sv};
inline constexpr std::array kStates{
    "disabled"sv, "okay"sv, "ok"sv,  "fail"sv, "fail-sss"sv, "reserved"sv, ""sv,
    "\x1b[2J"sv,  "hvc"sv,  "smc"sv, "hvc"sv,  "smc"sv,      "psci"sv,     "spin-table"sv,
};
/// For the command line.
inline constexpr std::array kWords{
    "run="sv,
    "run=poweroff"sv,
    "run=cpus,mem"sv,
    "run=\"ptdump 1,percpu\""sv,
    "run=\"panic"sv,
    "mem=0"sv,
    "mem=1K"sv,
    "mem=64M"sv,
    "mem=1T"sv,
    "mem=99999T"sv,
    "maxcpus=0"sv,
    "maxcpus=1"sv,
    "maxcpus=99"sv,
    "maxcpus="sv,
    "lse=off"sv,
    "lse=maybe"sv,
    "selftest="sv,
    "selftest=*no*such*"sv,
    "earlycon"sv,
    "earlycon=pl011,0x9000000"sv,
    "earlycon=pl011,0x40000000"sv,
    "earlycon=pl011,0"sv,
    "earlycon=pl011,0xfffffffffff0"sv,
    "--"sv,
    "\""sv,
    "="sv,
};

}  // namespace atl::fuzz
