#include "kernel/read_machine.hpp"

#include "arch-arm64/documented_ram.hpp"
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

  /// The first `bytes` of the tree, at most kMaxDeviceTree, mapped in whole pages. All of it is asked whether it
  /// answers: a loader's word may lead anywhere, and an abort inside libfdt says little.
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
    const VirtAddr start = window.start + (tree_ - page);
    require_answers(start, bytes);
    return {pointer_to<const u8>(start), bytes};
  }

 private:
  void require_answers(VirtAddr start, u64 bytes) const {
    // The smallest piece that RAM comes in.
    constexpr u64 kPiece = 4_KiB;
    for (u64 offset = 0; offset < bytes;
         offset = align_up(start.value() + offset + 1, kPiece) - start.value()) {
      if (!arch::probe_read((start + offset).align_down(4))) {
        panic("device tree at {}: nothing answers at {}", tree_, tree_ + offset);
      }
    }
  }

  PhysAddr tree_;
  u64 mapped_ = 0;  ///< bytes from the tree's first page on
};

PhysRange image_range() { return {image_phys(), static_cast<u64>(__image_end - __image_start)}; }

/// Where the tree is: as the loader says, or, if it says nothing, where QEMU leaves one for an ELF file.
PhysAddr find_tree(PhysAddr passed) {
  if (passed == PhysAddr(0)) {
    print("device tree: the loader passed none in x0; trying {}\n", arch::kDocumentedRam);
    return arch::kDocumentedRam;
  }
  if (!passed.is_aligned(8)) {
    panic("no device tree: the loader passed {} in x0, where an 8-byte aligned address belongs", passed);
  }
  return passed;
}

}  // namespace

Machine& read_machine(PhysAddr passed) {
  const PhysAddr device_tree = find_tree(passed);
  TreeWindow tree(device_tree);
  PrintSink notes;
  const Result<usize> bytes = device_tree_size(tree.first(kDeviceTreeHeader), notes);
  if (!bytes) panic("device tree at {} is unusable; the reason is above", device_tree);
  if (image_range().overlaps({device_tree, *bytes})) {
    panic("device tree at {}, {} bytes, lies inside the kernel image, which has overwritten it", device_tree,
          *bytes);
  }

  // Before the tree is read: what it says of memory is held against these two.
  mm::MemoryMap& map = mm::memory_map();
  map.reserve(image_range(), mm::ReservationKind::kernel);
  map.reserve({device_tree, *bytes}, mm::ReservationKind::device_tree);
  const std::span<const u8> whole = tree.first(*bytes);
  arch::FpSection fp;  // libfdt is built for programs that have SIMD registers
  if (!parse_device_tree(whole, g_machine, map, notes)) {
    panic("device tree at {} is unusable; the reason is above", device_tree);
  }
  return g_machine;
}

const Machine& machine() { return g_machine; }

void forget_initrd() { g_machine.initrd = {}; }

}  // namespace atl
