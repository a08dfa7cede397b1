// From page number to `Page` to physical address and back. Arithmetic only: the array is one
// virtual range (vmemmap) over the whole linear map, of which the parts that describe RAM are
// backed. Host tests put it over an ordinary array.
#pragma once

#include <algorithm>

#include "lib/address.hpp"
#include "mm/memory_map.hpp"
#include "mm/page.hpp"

namespace atl::mm {

/// Page numbers are physical address / page size, whatever the array's first page.
class PageFrames {
 public:
  constexpr PageFrames(Page* pages, u64 first_frame, u64 count)
      : pages_(pages), first_frame_(first_frame), count_(count) {}

  constexpr u64 first_frame() const { return first_frame_; }
  constexpr u64 count() const { return count_; }
  constexpr bool contains(u64 frame) const { return frame - first_frame_ < count_; }
  constexpr bool contains(const Page* page) const { return page >= pages_ && page < pages_ + count_; }
  /// `frame` is in the array, and its part of the array is backed.
  constexpr Page& page(u64 frame) const { return pages_[frame - first_frame_]; }
  constexpr u64 frame(const Page& page) const { return first_frame_ + static_cast<u64>(&page - pages_); }

 private:
  Page* pages_;
  u64 first_frame_;
  u64 count_;
};

template <class G>
class PageArray : public PageFrames {
 public:
  /// The kernel passes vmemmap's start, the linear map's base and its size in pages.
  constexpr PageArray(Page* pages, PhysAddr base, u64 count)
      : PageFrames(pages, base.value() >> G::kPageShift, count) {}

  using PageFrames::contains;
  constexpr bool contains(PhysAddr pa) const { return contains(pa.value() >> G::kPageShift); }
  /// The page that `pa` lies in.
  constexpr Page& page_of(PhysAddr pa) const { return page(pa.value() >> G::kPageShift); }
  constexpr PhysAddr address_of(const Page& p) const { return PhysAddr(frame(p) << G::kPageShift); }
};

/// The largest buddy block, in pages and as an order: what one last-level table spans (2, 32 and
/// 512 MiB at 4K, 16K and 64K). That serves every block mapping; larger runs would only serve
/// requests that nobody makes after boot, and leave more of the page array to be backed.
template <class G>
inline constexpr unsigned kMaxOrder = G::kBitsPerLevel;
template <class G>
inline constexpr u64 kMaxBlockBytes = G::kPageSize << kMaxOrder<G>;

/// Calls `visit(VirtRange)` for the parts of vmemmap to back with zeroed pages: ascending,
/// disjoint, page-aligned. They describe all RAM, rounded outward to largest buddy blocks: the
/// buddy allocator looks at a block's buddy before it knows that it is RAM.
template <class L, class Visit>
void for_each_page_array_range(const MemoryMap& map, Visit visit) {
  using G = typename L::Geometry;
  static_assert(kLinearAlign % kMaxBlockBytes<G> == 0, "rounding never leaves the linear map");
  const auto entry_of = [&](PhysAddr pa) {
    return L::kVmemmap.start + ((pa - map.linear_base()) >> G::kPageShift) * sizeof(Page);
  };
  VirtRange pending{};
  map.for_each_ram([&](const PhysRange& bank) {
    const VirtAddr start = entry_of(bank.start.align_down(kMaxBlockBytes<G>)).align_down(G::kPageSize);
    const VirtAddr end = entry_of(bank.end().align_up(kMaxBlockBytes<G>)).align_up(G::kPageSize);
    if (!pending.empty() && start <= pending.end()) {
      pending.size = std::max(pending.end(), end) - pending.start;
      return;
    }
    if (!pending.empty()) visit(pending);
    pending = {start, end - start};
  });
  if (!pending.empty()) visit(pending);
}

}  // namespace atl::mm
