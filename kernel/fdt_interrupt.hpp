// Interrupts as a device tree names them (Devicetree Specification v0.4, 2.4), as far as they go to the GIC.
#pragma once

#include <expected>
#include <optional>

#include "kernel/fdt_walker.hpp"

namespace atl {

/// One interrupt of a node. What it means depends on a controller that may stand later in the tree.
struct FdtInterrupt {
  FdtProperty cells;
  usize index = 0;
  u32 parent = 0;
  /// `interrupts-extended`: each entry begins with its own controller's phandle.
  bool extended = false;

  /// The node's interrupt number `index`. `interrupts-extended` has precedence, as the specification says.
  static FdtInterrupt of(const FdtWalker& node, usize index);
};

/// The GIC of a tree, as other nodes refer to it.
struct FdtGic {
  u32 phandle = 0;
  u32 interrupt_cells = 0;

  /// The INTID of an interrupt, nothing if the node has none, or the reason why it cannot be used.
  /// GIC bindings: <type number flags>, type 0 an SPI counted from INTID 32, 1 a PPI counted from 16.
  std::expected<std::optional<u32>, const char*> intid(const void* fdt, const FdtInterrupt& interrupt) const;

 private:
  std::optional<usize> first_cell(const void* fdt, const FdtInterrupt& interrupt) const;
};

}  // namespace atl
