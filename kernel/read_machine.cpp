#include "kernel/read_machine.hpp"

#include "arch/cpu.hpp"
#include "kernel/boot_root.hpp"
#include "kernel/device_tree.hpp"
#include "kernel/image.hpp"
#include "kernel/print_sink.hpp"
#include "lib/panic.hpp"
#include "mm/layout.hpp"
#include "mm/physical_memory.hpp"

namespace atl {
namespace {

using mm::KernelLayout;

constinit Machine g_machine;

std::span<const u8> map_tree(PhysAddr tree, u64 bytes) {
  const Result<VirtAddr> va =
      map_in_boot_root(KernelLayout::kFixDeviceTree, {tree, bytes}, arch::kKernelReadOnly);
  if (!va) panic("device tree at {}: it does not fit its window", tree);
  return {pointer_to<const u8>(*va), bytes};
}

}  // namespace

Machine& read_machine(PhysAddr device_tree) {
  if (device_tree == PhysAddr(0) || !device_tree.is_aligned(8)) {
    panic("no device tree: the loader passed {} in x0, where an 8-byte aligned address belongs", device_tree);
  }
  // As much as a tree may have is mapped at once; how much of it is the tree, its header says.
  const std::span<const u8> window = map_tree(device_tree, kMaxDeviceTree);
  PrintSink notes;
  const Result<usize> bytes = device_tree_size(window.first(kDeviceTreeHeader), notes);
  if (!bytes) panic("device tree at {} is unusable; the reason is above", device_tree);

  mm::MemoryMap& map = mm::memory_map();
  arch::FpSection fp;  // libfdt is built for programs that have SIMD registers
  if (!parse_device_tree(window.first(*bytes), g_machine, map, notes)) {
    panic("device tree at {} is unusable; the reason is above", device_tree);
  }

  const PhysRange image{image_phys(), static_cast<u64>(__image_end - __image_start)};
  if (!map.reserve(image, mm::ReservationKind::kernel) ||
      !map.reserve({device_tree, *bytes}, mm::ReservationKind::device_tree)) {
    panic("the memory map has no room for the kernel's own reservations");
  }
  return g_machine;
}

const Machine& machine() { return g_machine; }

}  // namespace atl
