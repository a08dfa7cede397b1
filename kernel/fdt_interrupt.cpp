#include "kernel/fdt_interrupt.hpp"

#include <libfdt.h>

#include "lib/fault.hpp"

namespace atl {
namespace {

/// Each entry that is passed over costs a search of the tree for its controller. Timers have five.
constexpr usize kMaxEntries = kFault == Fault::interrupt_entries_unbounded ? ~usize{0} : 32;

/// How many cells an interrupt of the controller `phandle` has.
std::optional<u32> interrupt_cells_of(const void* fdt, u32 phandle) {
  int length = 0;
  const int offset = fdt_node_offset_by_phandle(fdt, phandle);
  const void* cells = offset < 0 ? nullptr : fdt_getprop(fdt, offset, "#interrupt-cells", &length);
  if (cells == nullptr || length != 4) return std::nullopt;
  return FdtProperty(static_cast<const u8*>(cells), 4).cell(0);
}

}  // namespace

FdtInterrupt FdtInterrupt::of(const FdtWalker& node, usize index) {
  const FdtProperty extended = node.property("interrupts-extended");
  if (extended.exists()) return {extended, index, 0, true};
  return {node.property("interrupts"), index, node.interrupt_parent(), false};
}

/// The cell at which the interrupt begins, if it goes to the GIC.
std::optional<usize> FdtGic::first_cell(const void* fdt, const FdtInterrupt& interrupt) const {
  if (!interrupt.extended) {
    if (interrupt.parent != phandle) return std::nullopt;
    return interrupt.index * interrupt_cells;
  }
  // Entries before it may go to other controllers, and have other sizes.
  const usize count = interrupt.cells.cell_count();
  usize at = 0;
  for (usize entry = 0; at < count && entry <= kMaxEntries; ++entry) {
    const u32 controller = interrupt.cells.cell(at);
    if (entry == interrupt.index) return controller == phandle ? std::optional(at + 1) : std::nullopt;
    const auto cells = controller == phandle ? interrupt_cells : interrupt_cells_of(fdt, controller);
    if (!cells || *cells >= count - at) return std::nullopt;
    at += 1 + *cells;
  }
  return std::nullopt;
}

std::expected<std::optional<u32>, const char*> FdtGic::intid(const void* fdt,
                                                             const FdtInterrupt& interrupt) const {
  if (!interrupt.cells.exists()) return std::nullopt;
  const auto first = first_cell(fdt, interrupt);
  if (!first || interrupt_cells < 3 || interrupt_cells > 4) return std::unexpected("does not go to the GIC");
  const auto type = interrupt.cells.number(*first, 1);
  const auto number = interrupt.cells.number(*first + 1, 1);
  if (type && number) {
    if (*type == 0 && *number < 988) return static_cast<u32>(32 + *number);
    if (*type == 1 && *number < 16) return static_cast<u32>(16 + *number);
  }
  return std::unexpected("is missing or out of range");
}

}  // namespace atl
