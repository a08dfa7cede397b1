#include "mm/buddy.hpp"

#include <algorithm>
#include <bit>

#include "lib/fault.hpp"
#include "lib/panic.hpp"

namespace atl::mm {

namespace {

constexpr u64 pages_of(unsigned order) { return u64{1} << order; }

}  // namespace

BuddyZone::BuddyZone(PageFrames pages, unsigned max_order, u16 node)
    : pages_(pages), max_order_(max_order), node_(node) {
  ATOLL_ASSERT(max_order < kOrders);
  // So that the buddy of a block below max_order is always inside the array.
  ATOLL_ASSERT(is_aligned(pages.first_frame(), pages_of(max_order)));
  ATOLL_ASSERT(is_aligned(pages.count(), pages_of(max_order)));
}

void BuddyZone::add_free_range(u64 first_frame, u64 count) {
  if (count == 0) return;
  ATOLL_ASSERT(pages_.contains(first_frame) && pages_.contains(first_frame + count - 1));
  const u64 end = first_frame + count;
  managed_pages_ += count;
  for (u64 frame = first_frame; frame < end;) {
    // The largest block that both starts and fits here.
    const auto aligned = static_cast<unsigned>(std::countr_zero(frame));
    const auto fitting = static_cast<unsigned>(std::bit_width(end - frame)) - 1;
    const unsigned order = std::min({max_order_, aligned, fitting});
    if (pages_.page(frame).state != PageState::none)
      panic("page {:#x} is added to the buddy allocator twice", frame);
    release(frame, order);
    frame += pages_of(order);
  }
}

Result<Page*> BuddyZone::allocate(unsigned order) {
  if (order > max_order_) return fail(Error::invalid_argument);
  const u32 large_enough = available_orders_ >> order << order;
  if (large_enough == 0) return fail(Error::no_memory);

  auto split = static_cast<unsigned>(std::countr_zero(large_enough));
  Page& head = free_lists_[split].front();
  unlink(head);
  // The lower half stays ours, the upper halves become free one order at a time.
  while (split > order) {
    --split;
    link(*(&head + pages_of(split)), split);
  }
  head.state = PageState::allocated;
  head.order = static_cast<u8>(order);
  head.references = 1;
  return &head;
}

void BuddyZone::free(Page* page, unsigned order) {
  check_free(page, order);
  page->references = 0;
  release(pages_.frame(*page), order);
}

/// Links the block and its free buddies, joined, as one free block.
void BuddyZone::release(u64 frame, unsigned order) {
  while (order < max_order_) {
    Page& buddy = pages_.page(frame ^ pages_of(order));
    if (!heads_free_block(buddy, order)) break;
    unlink(buddy);
    buddy.state = PageState::none;
    pages_.page(frame).state = PageState::none;
    frame &= ~pages_of(order);
    ++order;
  }
  link(pages_.page(frame), order);
}

/// Whether `page` heads a block of this zone that is free as a whole. A head of the same node and
/// state but lower order is only the first part of one: its rest is in use.
bool BuddyZone::heads_free_block(const Page& page, unsigned order) const {
  if (page.state != PageState::free || page.node != node_) return false;
  if constexpr (kFault == Fault::buddy_order_unchecked) return true;
  return page.order == order;
}

void BuddyZone::link(Page& page, unsigned order) {
  page.state = PageState::free;
  page.order = static_cast<u8>(order);
  page.node = node_;
  free_lists_[order].push_front(page);
  ++free_blocks_[order];
  available_orders_ |= u32{1} << order;
  free_pages_ += pages_of(order);
}

/// Takes a free block off its list; the caller gives it its new state.
void BuddyZone::unlink(Page& page) {
  const unsigned order = page.order;
  free_lists_[order].erase(FreeList::s_iterator_to(page));
  if (--free_blocks_[order] == 0) available_orders_ &= ~(u32{1} << order);
  free_pages_ -= pages_of(order);
}

void BuddyZone::check_free(const Page* page, unsigned order) const {
  if (!pages_.contains(page)) {
    panic("free of {}, which is no entry of the page array", static_cast<const void*>(page));
  }
  const u64 frame = pages_.frame(*page);
  switch (page->state) {
    case PageState::free:
      if constexpr (kFault == Fault::buddy_double_free_unchecked) return;
      panic("double free of page {:#x}", frame);
    case PageState::none: refuse_headless_free(*page);
    case PageState::allocated: break;
  }
  if (page->node != node_) panic("page {:#x} of node {} freed to node {}", frame, page->node, node_);
  if (page->order != order) {
    panic("page {:#x} freed with order {}, allocated with {}", frame, order, page->order);
  }
  if (page->references != 1) panic("page {:#x} freed with {} references", frame, page->references);
}

/// Says whether the page lies in a free block (its own was freed and joined) or not.
void BuddyZone::refuse_headless_free(const Page& page) const {
  const u64 frame = pages_.frame(page);
  for (unsigned order = 1; order <= max_order_; ++order) {
    const Page& head = pages_.page(align_down(frame, pages_of(order)));
    if (head.state == PageState::free && head.order >= order) {
      panic("double free of page {:#x}, inside the free block at {:#x}", frame, pages_.frame(head));
    }
  }
  panic("free of page {:#x}, which heads no allocated block", frame);
}

}  // namespace atl::mm
