// Long random runs of map, unmap, protect and query against a map of pages.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "mm/page_tables.hpp"
#include "tests/host/mm/fake_tables.hpp"

namespace atl::mm {
namespace {

using arch::Granule;

/// What the model knows of one page. `unit` is the block, run or page that cannot be split around it.
struct Page {
  PhysAddr pa;
  arch::PageAttributes attributes;
  VirtRange unit;
};

template <class G>
class Model : public testing::Test {
 public:
  static constexpr u64 kPage = G::kPageSize;
  static constexpr u64 kBlock = G::entry_bytes(2);
  static constexpr u64 kRun = kPage * G::contiguous_entries(arch::kPageLevel);
  /// Four blocks, around a boundary between two tables of the level above where there is one.
  static constexpr VirtRange kArena{G::kKernelStart + G::kKernelBytes / 2 - 2 * kBlock, 4 * kBlock};

  VirtRange random_range() {
    // Sizes near the interesting ones, starts aligned to them half of the time.
    const u64 grain = pick({kPage, kPage, kRun, kRun, kBlock});
    const u64 size =
        std::min(kArena.size, align_up(grain * (1 + random() % 3) - (coin() ? 0 : kPage), kPage));
    u64 offset = random() % ((kArena.size - size) / kPage + 1) * kPage;
    if (coin()) offset = align_down(offset, grain);
    return {kArena.start + offset, std::max(size, kPage)};
  }
  u64 random() { return engine_(); }
  bool coin() { return random() % 2 != 0; }
  u64 pick(std::initializer_list<u64> choices) { return choices.begin()[random() % choices.size()]; }

  void map() {
    const VirtRange range = random_range();
    // Congruent to the VA at a random alignment, so that every size of leaf comes up.
    const u64 align = pick({kPage, kRun, kBlock, kBlock});
    const PhysAddr pa{align * (1 + random() % 64) + (range.start.value() & (align - 1))};
    const arch::PageAttributes attributes{.writable = coin(), .executable = coin()};
    const MapLimits limits{.largest_leaf = pick({kPage, kRun, ~u64{0}}), .contiguous = random() % 4 != 0};
    const bool free = mapped_in(range) == 0;
    if (random() % 8 == 0) physical_.allocations_left = random() % 3;
    const Result<> result = tables_.map(range.start, pa, range.size, attributes, limits);
    const bool limited = physical_.allocations_left.has_value();
    physical_.allocations_left.reset();
    if (!result && limited && result.error() == Error::no_memory) return;
    ASSERT_EQ(result.has_value(), free);
    if (!result) {
      ASSERT_EQ(result.error(), Error::already_exists);
      return;
    }
    for (VirtAddr va = range.start; va != range.end(); va += kPage) {
      const auto leaf = tables_.query(va);
      ASSERT_TRUE(leaf);
      const u64 unit = leaf->bytes * (leaf->contiguous ? G::contiguous_entries(leaf->level) : 1);
      ASSERT_TRUE(unit == kPage || unit <= limits.largest_leaf);
      pages_[va] = {pa + (va - range.start), attributes, {va.align_down(unit), unit}};
    }
  }

  void unmap() {
    const VirtRange range = choose_range();
    fake::Sink sink;
    RetiredTables retired;
    const bool retires = coin();
    const Result<> result = retires ? tables_.unmap(range, sink, retired) : tables_.unmap(range, sink);
    tables_.free_tables(retired);
    if (!check_refusal(range, result)) {
      ASSERT_TRUE(sink.ranges.empty());
      return;
    }
    ASSERT_EQ(sink.bytes(), range.size);
    pages_.erase(pages_.lower_bound(range.start), pages_.lower_bound(range.end()));
  }

  void protect() {
    const VirtRange range = choose_range();
    fake::Sink sink;
    const arch::PageAttributes attributes{.writable = coin(), .executable = coin()};
    if (!check_refusal(range, tables_.protect(range, attributes, sink))) return;
    for (auto p = pages_.lower_bound(range.start); p != pages_.lower_bound(range.end()); ++p) {
      p->second.attributes = attributes;
    }
  }

  void compare_all() {
    for (VirtAddr va = kArena.start; va != kArena.end(); va += kPage) {
      const auto leaf = tables_.query(va + kPage / 2);
      const auto page = pages_.find(va);
      ASSERT_EQ(leaf.has_value(), page != pages_.end()) << std::hex << va.value();
      if (!leaf) continue;
      ASSERT_EQ(leaf->translate(va), page->second.pa);
      ASSERT_EQ(leaf->attributes, page->second.attributes);
    }
    u64 bytes = 0;
    for (const Leaf& leaf : fake::leaves_of(tables_, {G::kKernelStart, G::kKernelBytes})) bytes += leaf.bytes;
    ASSERT_EQ(bytes, pages_.size() * kPage);
  }

 private:
  usize mapped_in(VirtRange range) {
    return static_cast<usize>(
        std::distance(pages_.lower_bound(range.start), pages_.lower_bound(range.end())));
  }
  /// Mostly whole units that exist, sometimes anything.
  VirtRange choose_range() {
    if (pages_.empty() || random() % 3 == 0) return random_range();
    auto page = pages_.lower_bound(kArena.start + random() % kArena.size);
    if (page == pages_.end()) page = pages_.begin();
    VirtRange range = page->second.unit;
    for (auto next = pages_.find(range.end()); next != pages_.end() && coin();
         next = pages_.find(range.end())) {
      range.size += next->second.unit.size;
    }
    return range;
  }
  /// Whether the model lets `range` be changed; and that `result` says the same, for the same reason.
  bool check_refusal(VirtRange range, const Result<>& result) {
    const bool hole = mapped_in(range) * kPage != range.size;
    bool split = false;
    for (auto p = pages_.lower_bound(range.start); p != pages_.lower_bound(range.end()); ++p) {
      split = split || !range.contains(p->second.unit);
    }
    EXPECT_EQ(result.has_value(), !hole && !split);
    if (!result) {
      EXPECT_TRUE((hole && result.error() == Error::not_found) || (split && result.error() == Error::denied));
    }
    return result.has_value();
  }

  std::mt19937_64 engine_{G::kVaBits * 1000 + G::kPageShift};
  fake::PhysicalTables physical_{kPage};
  PageTables<G, fake::Memory> tables_ = *PageTables<G, fake::Memory>::create(fake::Memory(physical_));
  std::map<VirtAddr, Page> pages_;
};

using Geometries = testing::Types<arch::Geometry<Granule::k4K, 48>, arch::Geometry<Granule::k4K, 39>,
                                  arch::Geometry<Granule::k16K, 47>, arch::Geometry<Granule::k64K, 48>>;
TYPED_TEST_SUITE(Model, Geometries);

TYPED_TEST(Model, RandomOperationsAgreeWithAMapOfPages) {
  for (int step = 0; step < 3000; ++step) {
    switch (this->random() % 5) {
      case 0:
      case 1: this->map(); break;
      case 2:
      case 3: this->unmap(); break;
      default: this->protect();
    }
    if (step % 100 == 0) this->compare_all();
    ASSERT_FALSE(this->HasFatalFailure()) << "step " << step;
    ASSERT_FALSE(this->HasNonfatalFailure()) << "step " << step;
  }
  this->compare_all();
}

}  // namespace
}  // namespace atl::mm
