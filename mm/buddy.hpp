// Buddy allocator for the pages of one NUMA node, over an injected page array.
//
// A block of order k is 2^k pages at a multiple of 2^k. Its buddy is the other half of the block of
// order k + 1 that holds both; two free buddies are always joined. Free blocks are linked through
// the `Page` at their head, so the allocator needs no memory of its own, and its state at boot is
// one write per block.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>

#include "lib/result.hpp"
#include "mm/page_array.hpp"

namespace atl::mm {

/// Not synchronised: the owner holds a lock around every call but the constructor and
/// `max_order`. Callable with IRQs masked; never sleeps. Free lists point at the object, so it
/// stays where it was made, at an address that is the same on every CPU.
class BuddyZone {
 public:
  /// Enough for the largest `kMaxOrder` (64K pages: 13).
  static constexpr unsigned kOrders = 14;

  /// `pages` starts and ends at a multiple of 2^max_order pages; max_order < kOrders. Whole blocks of
  /// max_order that hold pages of this zone are backed by memory in the array. Zones of different
  /// nodes may share an array, and even such a block: they never touch each other's pages.
  BuddyZone(PageFrames pages, unsigned max_order, u16 node);
  BuddyZone(const BuddyZone&) = delete;
  BuddyZone& operator=(const BuddyZone&) = delete;

  /// Makes `count` pages free that no zone manages yet, at boot or when memory is added.
  /// Panics if a block would start at a page that is managed.
  void add_free_range(u64 first_frame, u64 count);

  /// Head of a block of 2^order pages, contents undefined, `references` = 1.
  /// `invalid_argument` if order > max_order; `no_memory` if no block is large enough.
  [[nodiscard]] Result<Page*> allocate(unsigned order);

  /// Gives back a block with the order it was allocated with. Panics on a double free, a page that
  /// heads no block, another node's page, another order, or references other than the caller's.
  void free(Page* page, unsigned order);

  unsigned max_order() const { return max_order_; }
  u16 node() const { return node_; }
  u64 managed_pages() const { return managed_pages_; }
  u64 free_pages() const { return free_pages_; }
  /// Free blocks of exactly this order; order <= max_order.
  u64 free_blocks(unsigned order) const { return free_blocks_[order]; }

 private:
  using FreeList = boost::intrusive::list<Page, boost::intrusive::member_hook<Page, PageHook, &Page::hook>,
                                          boost::intrusive::constant_time_size<false>>;

  bool heads_free_block(const Page& page, unsigned order) const;
  void link(Page& page, unsigned order);
  void unlink(Page& page);
  void release(u64 frame, unsigned order);
  void check_free(const Page* page, unsigned order) const;
  [[noreturn]] void refuse_headless_free(const Page& page) const;

  PageFrames pages_;
  unsigned max_order_;
  u16 node_;
  /// Bit k: the list of order k is not empty.
  u32 available_orders_ = 0;
  u64 managed_pages_ = 0;
  u64 free_pages_ = 0;
  std::array<u64, kOrders> free_blocks_{};
  std::array<FreeList, kOrders> free_lists_;
};

}  // namespace atl::mm
