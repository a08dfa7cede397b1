// The page-table dump: a visitor over the one walker that merges adjacent leaves with equal attributes,
// names the regions, and fails on anything both writable and executable.
//
//     PageTableDump dump(kRegions<KernelLayout>, &sink);          // nullptr instead of &sink: check only
//     tables.visit({G::kKernelStart, G::kKernelBytes}, dump);
//     if (!dump.finish().passed()) …
#pragma once

#include <optional>
#include <span>

#include "lib/format.hpp"
#include "mm/mapping.hpp"
#include "mm/regions.hpp"

namespace atl::mm {

/// Sees leaves in ascending order. Any context that may write to the sink.
class PageTableDump {
 public:
  struct Summary {
    usize ranges = 0;  ///< lines: maximal runs of adjacent equal leaves within a region
    u64 mapped_bytes = 0;
    usize tables = 0;  ///< visited below the root; one reached on two paths counts twice
    u64 writable_executable_bytes = 0;
    VirtAddr first_writable_executable;  ///< meaningful if the above is not 0

    bool passed() const { return writable_executable_bytes == 0; }
  };

  /// `regions` outlives the dump. Without a sink nothing is printed.
  PageTableDump(std::span<const RegionRange> regions, FormatSink* sink) : regions_(regions), sink_(sink) {}

  void leaf(const Leaf& leaf);
  void table(VirtAddr, int, PhysAddr) { ++summary_.tables; }
  /// Ends the last range and prints the totals. Once, after the walk.
  Summary finish();

 private:
  /// Adjacent leaves that print as one line.
  struct Run {
    Leaf first;
    u64 size;
    Region region;

    bool continues_with(const Leaf& leaf, Region region) const;
  };
  Region region_of(VirtAddr va) const;
  void end_run();

  std::span<const RegionRange> regions_;
  FormatSink* sink_;
  std::optional<Run> run_;
  std::optional<Region> titled_;  ///< the region whose title was printed last
  Summary summary_;
};

}  // namespace atl::mm
