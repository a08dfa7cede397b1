#include "mm/buddy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

using arch::Geometry;
using arch::Granule;

constexpr u64 pages_of(unsigned order) { return u64{1} << order; }

/// A zone over memory of its own: `blocks` largest blocks from `kFirst` on, nothing added yet.
struct TestZone {
  TestZone(unsigned max_order, u64 blocks)
      : first(u64{16} << max_order),
        pages(blocks << max_order),
        frames(pages.data(), first, pages.size()),
        zone(frames, max_order, 0) {}

  u64 first;
  std::vector<Page> pages;
  PageFrames frames;
  BuddyZone zone;
};

TEST(Buddy, SplitsAndJoins) {
  TestZone t(9, 1);
  t.zone.add_free_range(t.first, 512);
  EXPECT_EQ(t.zone.free_blocks(9), 1u);
  Page* page = *t.zone.allocate(0);
  EXPECT_EQ(page->state, PageState::allocated);
  EXPECT_EQ(page->references, 1u);
  for (unsigned order = 0; order < 9; ++order) EXPECT_EQ(t.zone.free_blocks(order), 1u);
  EXPECT_EQ(t.zone.free_pages(), 511u);
  t.zone.free(page, 0);
  EXPECT_EQ(t.zone.free_blocks(9), 1u);
  EXPECT_EQ(t.zone.free_pages(), 512u);
  EXPECT_EQ(t.zone.managed_pages(), 512u);
}

TEST(Buddy, WritesOnlyBlockHeads) {
  TestZone t(13, 4);
  t.zone.add_free_range(t.first, t.pages.size());
  EXPECT_EQ(std::ranges::count(t.pages, PageState::none, &Page::state), std::ssize(t.pages) - 4);
}

TEST(Buddy, RangesAddedPiecewiseAreJoined) {
  TestZone t(9, 3);
  t.zone.add_free_range(t.first + 600, 424);
  t.zone.add_free_range(t.first, 77);
  t.zone.add_free_range(t.first + 77, 523);
  t.zone.add_free_range(t.first + 1024, 0);
  EXPECT_EQ(t.zone.free_blocks(9), 2u);
  EXPECT_EQ(t.zone.managed_pages(), 1024u);
}

TEST(Buddy, AFreeBuddyOfLowerOrderIsNotWhole) {
  TestZone t(9, 1);
  t.zone.add_free_range(t.first, 512);
  Page* pair = *t.zone.allocate(1);
  Page* third = *t.zone.allocate(0);
  Page* fourth = *t.zone.allocate(0);
  ASSERT_EQ(fourth - pair, 3);
  t.zone.free(third, 0);
  t.zone.free(pair, 1);
  ASSERT_EQ(t.zone.free_pages(), 511u) << "a block was joined with a buddy that is partly in use";
  t.zone.free(fourth, 0);
  EXPECT_EQ(t.zone.free_blocks(9), 1u);
}

TEST(Buddy, RefusesOrdersAndExhaustion) {
  TestZone t(9, 1);
  EXPECT_EQ(t.zone.allocate(0).error(), Error::no_memory);
  t.zone.add_free_range(t.first, 4);
  EXPECT_EQ(t.zone.allocate(3).error(), Error::no_memory);
  EXPECT_EQ(t.zone.allocate(10).error(), Error::invalid_argument);
  EXPECT_TRUE(t.zone.allocate(2));
  EXPECT_EQ(t.zone.allocate(0).error(), Error::no_memory);
}

TEST(Buddy, DoubleFreePanics) {
  TestZone t(9, 1);
  t.zone.add_free_range(t.first, 512);
  Page* kept = *t.zone.allocate(0);
  Page* page = *t.zone.allocate(0);
  t.zone.free(page, 0);
  ASSERT_EQ(host::panic_message([&] { t.zone.free(page, 0); }), "double free of page 0x2001")
      << "a double free went unnoticed";
  t.zone.free(kept, 0);
  // Both are inside the one free block now; the first page heads it.
  EXPECT_PANIC(t.zone.free(kept, 0), "double free of page 0x2000");
  EXPECT_PANIC(t.zone.free(page, 0), "double free of page 0x2001, inside the free block at 0x2000");
}

TEST(Buddy, WrongFreesPanic) {
  TestZone t(9, 2);
  t.zone.add_free_range(t.first, 512);
  Page* block = *t.zone.allocate(3);
  Page outside{};
  EXPECT_PANIC(t.zone.free(block, 2), "freed with order 2, allocated with 3");
  EXPECT_PANIC(t.zone.free(block + 1, 0), "heads no allocated block");
  EXPECT_PANIC(t.zone.free(&t.pages[512], 0), "heads no allocated block");
  EXPECT_PANIC(t.zone.free(&outside, 0), "no entry of the page array");
  block->references = 2;
  EXPECT_PANIC(t.zone.free(block, 3), "freed with 2 references");
  block->references = 1;
  t.zone.free(block, 3);
  EXPECT_EQ(t.zone.free_blocks(9), 1u);
}

TEST(Buddy, ARangeAddedTwicePanics) {
  TestZone t(9, 1);
  t.zone.add_free_range(t.first, 512);
  EXPECT_PANIC(t.zone.add_free_range(t.first, 512), "added to the buddy allocator twice");
  EXPECT_PANIC(t.zone.add_free_range(t.first + 1, 512), "assertion failed");
}

TEST(Buddy, TheArrayMustConsistOfLargestBlocks) {
  std::vector<Page> pages(1024);
  EXPECT_PANIC(BuddyZone(PageFrames(pages.data(), 256, 512), 9, 0), "first_frame");
  EXPECT_PANIC(BuddyZone(PageFrames(pages.data(), 512, 500), 9, 0), "count");
  EXPECT_PANIC(BuddyZone(PageFrames(pages.data(), 0, 0), 14, 0), "max_order");
}

TEST(Buddy, TenNodesShareOneArrayWithoutTouchingEachOther) {
  // 51 pages each: the borders cut through largest blocks, so buddies belong to other nodes.
  constexpr u64 kShare = 51;
  std::vector<Page> pages(512);
  const PageFrames frames(pages.data(), 512, pages.size());
  std::vector<std::unique_ptr<BuddyZone>> zones;
  for (u16 node = 0; node < 10; ++node) {
    zones.push_back(std::make_unique<BuddyZone>(frames, 9, node));
    zones.back()->add_free_range(512 + node * kShare, kShare);
  }
  std::vector<std::vector<Page*>> taken(10);
  for (u16 node = 0; node < 10; ++node) {
    while (const auto page = zones[node]->allocate(0)) {
      ASSERT_EQ(((*page) - pages.data()) / kShare, node);
      taken[node].push_back(*page);
    }
    ASSERT_EQ(taken[node].size(), kShare);
  }
  EXPECT_PANIC(zones[3]->free(taken[4][0], 0), "of node 4 freed to node 3");
  for (u16 node = 0; node < 10; ++node) {
    for (Page* page : taken[node]) zones[node]->free(page, 0);
    EXPECT_EQ(zones[node]->free_pages(), kShare);
  }
}

template <class G>
class BuddyAt : public ::testing::Test {};
using Geometries =
    ::testing::Types<Geometry<Granule::k4K, 48>, Geometry<Granule::k16K, 47>, Geometry<Granule::k64K, 48>>;
TYPED_TEST_SUITE(BuddyAt, Geometries);

/// Which pages are free, one byte each. All else follows: as buddies are always joined, the free
/// blocks are the largest aligned ones that the free pages make.
class Model {
 public:
  explicit Model(usize pages) : free_(pages) {}

  void set(u64 first, u64 count, bool free) { std::fill_n(free_.begin() + first, count, free); }
  bool all(u64 first, u64 count, bool free) const {
    return std::all_of(free_.begin() + first, free_.begin() + first + count,
                       [&](u8 page) { return (page != 0) == free; });
  }
  std::vector<u64> free_blocks(unsigned max_order) const {
    std::vector<u64> blocks(max_order + 1);
    for (u64 block = 0; block < free_.size(); block += pages_of(max_order)) count(block, max_order, blocks);
    return blocks;
  }

 private:
  void count(u64 first, unsigned order, std::vector<u64>& blocks) const {
    if (all(first, pages_of(order), true)) {
      ++blocks[order];
    } else if (order > 0) {
      count(first, order - 1, blocks);
      count(first + pages_of(order - 1), order - 1, blocks);
    }
  }

  std::vector<u8> free_;
};

std::vector<u64> free_blocks(const BuddyZone& zone) {
  std::vector<u64> blocks;
  for (unsigned order = 0; order <= zone.max_order(); ++order) blocks.push_back(zone.free_blocks(order));
  return blocks;
}

TYPED_TEST(BuddyAt, AgreesWithAModelOverAMillionOperations) {
  constexpr unsigned kOrder = kMaxOrder<TypeParam>;
  struct Block {
    Page* head;
    unsigned order;
  };
  TestZone t(kOrder, 4);
  Model model(t.pages.size());
  // Free memory as after boot: off every boundary, with holes, and a block that is whole.
  const u64 block = pages_of(kOrder);
  for (const auto& [first, count] : std::vector<std::pair<u64, u64>>{
           {5, block / 2}, {block / 2 + 9, block / 3}, {block, block}, {2 * block + 1, 2 * block - 18}}) {
    t.zone.add_free_range(t.first + first, count);
    model.set(first, count, true);
  }
  const std::vector<u64> at_first = free_blocks(t.zone);
  ASSERT_EQ(at_first, model.free_blocks(kOrder));
  const u64 managed = t.zone.managed_pages();
  ASSERT_EQ(t.zone.free_pages(), managed);

  std::mt19937 random(4);
  std::vector<Block> taken;
  u64 taken_pages = 0;
  for (int step = 0; step < 1'000'000; ++step) {
    // Phases that fill and phases that drain, so that both ends are reached.
    const bool prefer_allocation = step / 20'000 % 2 == 0;
    if (taken.empty() || (random() % 8 < 5) == prefer_allocation) {
      // Order k with probability 2^-(k+1).
      const unsigned order = std::min<unsigned>(std::countr_zero(random() | 1u << kOrder), kOrder);
      const auto page = t.zone.allocate(order);
      if (!page) {
        ASSERT_EQ(page.error(), Error::no_memory);
        const auto blocks = free_blocks(t.zone);
        ASSERT_TRUE(std::all_of(blocks.begin() + order, blocks.end(), [](u64 n) { return n == 0; }));
        continue;
      }
      const u64 first = *page - t.pages.data();
      ASSERT_TRUE(is_aligned(first, pages_of(order)));
      ASSERT_TRUE(model.all(first, pages_of(order), true))
          << "step " << step << ": the block at " << first << " holds pages that are in use";
      model.set(first, pages_of(order), false);
      taken.push_back({*page, order});
      taken_pages += pages_of(order);
    } else {
      std::swap(taken[random() % taken.size()], taken.back());
      const Block b = taken.back();
      taken.pop_back();
      t.zone.free(b.head, b.order);
      model.set(b.head - t.pages.data(), pages_of(b.order), true);
      taken_pages -= pages_of(b.order);
    }
    ASSERT_EQ(t.zone.free_pages(), managed - taken_pages) << "step " << step;
    if (step % 5000 == 0) {
      ASSERT_EQ(free_blocks(t.zone), model.free_blocks(kOrder)) << "step " << step;
    }
  }
  for (const Block& b : taken) t.zone.free(b.head, b.order);
  EXPECT_EQ(free_blocks(t.zone), at_first) << "not everything was joined again";
  EXPECT_EQ(t.zone.free_pages(), managed);
}

}  // namespace
}  // namespace atl::mm
