// What the kernel knows about one page of RAM. The page array in vmemmap has one for each.
#pragma once

#include <array>
#include <boost/intrusive/list_hook.hpp>

#include "lib/types.hpp"
#include "mm/layout.hpp"

namespace atl::mm {

/// The buddy allocator's view of a page. Zero must mean "nothing is known": the page array is only
/// zeroed at boot, which is far cheaper than writing half a million entries, and the allocator
/// then writes those that head a block.
enum class PageState : u8 {
  none = 0,   ///< heads no block: inside one, or not managed at all (holes, kernel, boot memory)
  free,       ///< heads a free block of 2^order pages
  allocated,  ///< heads a block of 2^order pages that somebody owns
};

/// Links a page into one list. Normal links have no invariant of their own, so zero bytes are fine.
using PageHook =
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>;

/// A power of two, so that page to number is a shift; a cache line, so that neighbours do not
/// share one between CPUs.
struct alignas(kPageStructBytes) Page {
  /// Written by the buddy allocator alone, under its zone's lock, and read there for pages that
  /// others own: owners leave these three as they are.
  PageState state;
  u8 order;
  u16 node;

  /// The owner's, while the block is allocated. `references` is 1 after allocation and must be 1
  /// at free; the rest is unspecified.
  u32 references;
  PageHook hook;
  std::array<u64, 5> owner;
};

static_assert(sizeof(Page) == kPageStructBytes && is_power_of_two(kPageStructBytes));

}  // namespace atl::mm
