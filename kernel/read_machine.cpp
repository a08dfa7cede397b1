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

/// The device tree as far as it is mapped. It may end right where RAM does, and what lies behind it is nobody's to
/// map: so first the header, then as much as the header says.
class TreeWindow {
 public:
  explicit TreeWindow(PhysAddr tree) : tree_(tree) {}

  /// The first `bytes` of the tree, at most kMaxDeviceTree, mapped in whole pages.
  std::span<const u8> first(u64 bytes) {
    const VirtRange window = KernelLayout::kFixDeviceTree;
    const PhysAddr page = tree_.align_down(arch::kPageSize);
    const u64 wanted = align_up(tree_ - page + bytes, arch::kPageSize);
    if (wanted > mapped_) {
      const Result<VirtAddr> mapping =
          map_in_boot_root({window.start + mapped_, window.size - mapped_},
                           {page + mapped_, wanted - mapped_}, arch::kKernelReadOnly);
      if (!mapping) {
        panic("device tree at {}: its first {} bytes cannot be mapped: {}", tree_, bytes,
              to_string(mapping.error().error));
      }
      mapped_ = wanted;
    }
    return {pointer_to<const u8>(window.start + (tree_ - page)), bytes};
  }

 private:
  PhysAddr tree_;
  u64 mapped_ = 0;  ///< bytes from the tree's first page on
};

}  // namespace

Machine& read_machine(PhysAddr device_tree) {
  if (device_tree == PhysAddr(0) || !device_tree.is_aligned(8)) {
    panic("no device tree: the loader passed {} in x0, where an 8-byte aligned address belongs", device_tree);
  }
  TreeWindow tree(device_tree);
  PrintSink notes;
  const Result<usize> bytes = device_tree_size(tree.first(kDeviceTreeHeader), notes);
  if (!bytes) panic("device tree at {} is unusable; the reason is above", device_tree);

  mm::MemoryMap& map = mm::memory_map();
  const std::span<const u8> whole = tree.first(*bytes);
  arch::FpSection fp;  // libfdt is built for programs that have SIMD registers
  if (!parse_device_tree(whole, g_machine, map, notes)) {
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
