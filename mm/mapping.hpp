// The vocabulary of mappings: what a walk reports, what a caller may demand of a new mapping, who is
// told which translations have to be flushed, and tables on their way in or out.
#pragma once

#include <concepts>

#include "mm/table_memory.hpp"

namespace atl::mm {

/// One valid leaf: a page or a block.
struct Leaf {
  VirtAddr va;    ///< the first address it maps, aligned to `bytes`
  PhysAddr pa;    ///< what that address maps to
  u64 bytes = 0;  ///< what this one entry covers, a contiguous run's other entries not included
  int level = 0;
  arch::PageAttributes attributes;
  bool contiguous = false;

  /// `address` is one of the leaf's.
  constexpr PhysAddr translate(VirtAddr address) const { return pa + (address - va); }
};

/// Bounds on how a range may be mapped. Blocks and runs cannot be split later, so whoever means to unmap
/// or protect parts of a range caps the leaves at the size of the smallest part.
struct MapLimits {
  u64 largest_leaf = ~u64{0};  ///< bytes of one block or one contiguous run, at most; pages always fit
  bool contiguous = true;      ///< whether the contiguous bit may be set at all
};

/// Told which translations a change has made stale. The sink, or whoever owns it, flushes them:
/// one by-VA TLBI for every `stride` bytes (a form that drops walk caches too), or everything.
/// Called after the stores and before they are published; must not touch the tables.
template <class S>
concept FlushSink = requires(S sink, VirtRange range, u64 stride) { sink.cleared(range, stride); };

/// `leaf` sees every valid leaf in ascending order. A visitor that also has
/// `table(VirtAddr start, int level, PhysAddr)` sees each table below the root, before its contents.
template <class V>
concept LeafVisitor = requires(V visitor, const Leaf& leaf) { visitor.leaf(leaf); };

/// Empty tables strung together through their own first entries, so that keeping them costs no memory.
/// The link is a page-aligned address, bit 0 clear: a walker that still holds a stale pointer to
/// a retired table reads an invalid descriptor.
class TableChain {
 public:
  bool empty() const { return count_ == 0; }
  usize count() const { return count_; }

  /// `table` has no valid entry and is linked nowhere.
  template <TableMemory M>
  void push(M& memory, PhysAddr table) {
    write_descriptor(memory.table(table)[0], arch::Descriptor(count_ == 0 ? 0 : head_.value()));
    head_ = table;
    ++count_;
  }
  /// The table pushed last, all zero again. Not on an empty chain.
  template <TableMemory M>
  PhysAddr pop(M& memory) {
    ATOLL_ASSERT(count_ != 0);
    const PhysAddr table = head_;
    arch::Descriptor& link = memory.table(table)[0];
    head_ = PhysAddr(read_descriptor(link).raw());
    write_descriptor(link, arch::Descriptor());
    --count_;
    return table;
  }

 private:
  PhysAddr head_;
  usize count_ = 0;
};

/// Tables that `unmap` has unlinked. They may be freed when everything it reported to the sink is flushed,
/// and not before: another CPU's walk may still be reading them.
using RetiredTables = TableChain;

}  // namespace atl::mm
