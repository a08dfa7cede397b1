// Reads the flattened device tree once, at boot, into `Machine` and the memory map. What it does not
// know it ignores; what is broken it names and leaves out; it never reads outside the bytes it is given.
//
// Context: boot CPU, before others run; pure (no hardware access, no allocation, no static state).
// libfdt is a library built for user programs and may use SIMD registers: the caller enables them
// around the call.
#pragma once

#include <span>

#include "kernel/machine.hpp"
#include "lib/format.hpp"
#include "lib/result.hpp"
#include "mm/memory_map.hpp"

namespace atl {

/// Linux's limit as well (Documentation/arch/arm64/booting: "must not exceed 2 megabytes").
inline constexpr usize kMaxDeviceTree = 2_MiB;
/// Bytes of the header that `device_tree_size` reads.
inline constexpr usize kDeviceTreeHeader = 40;

/// The tree's totalsize from its first bytes: at least `kDeviceTreeHeader` of them, at an 8-byte
/// aligned address. `bad_firmware_data` (and the reason in `notes`) unless magic and version are right
/// and the size is between a header and kMaxDeviceTree.
Result<usize> device_tree_size(std::span<const u8> start, FormatSink& notes);

/// Parses the tree at `mapping`, which may be longer than the tree. Fails with `bad_firmware_data` if it
/// is not a tree or names no usable RAM. `notes` gets one line for whatever was left out, and why, up to a
/// bound; on failure its last line is the reason.
/// `memory` is told of RAM, /memreserve/, /reserved-memory and the initrd. The caller has reserved the kernel image
/// and the tree in it, with which an initrd must not overlap, and finalizes it.
Result<> parse_device_tree(std::span<const u8> mapping, Machine& machine, mm::MemoryMap& memory,
                           FormatSink& notes);

}  // namespace atl
