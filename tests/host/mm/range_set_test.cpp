#include "mm/range_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace atl::mm {
namespace {

constexpr PhysRange range(u64 start, u64 end) { return {PhysAddr(start), end - start}; }

template <usize N>
std::vector<PhysRange> listed(const RangeSet<N>& set) {
  return {set.ranges().begin(), set.ranges().end()};
}

TEST(RangeSet, JoinsWhatOverlapsOrTouches) {
  RangeSet<4> set;
  ASSERT_TRUE(set.insert(range(40, 50)));
  ASSERT_TRUE(set.insert(range(10, 20)));
  ASSERT_TRUE(set.insert(range(20, 25)));
  ASSERT_TRUE(set.insert(range(5, 12)));
  ASSERT_TRUE(set.insert(range(7, 7)));
  EXPECT_EQ(listed(set), (std::vector{range(5, 25), range(40, 50)}));
  ASSERT_TRUE(set.insert(range(24, 41)));
  EXPECT_EQ(listed(set), (std::vector{range(5, 50)}));
  EXPECT_EQ(set.bytes(), 45u);
}

TEST(RangeSet, RemovesAcrossEntries) {
  RangeSet<4> set;
  ASSERT_TRUE(set.insert(range(0, 10)));
  ASSERT_TRUE(set.insert(range(20, 30)));
  ASSERT_TRUE(set.insert(range(40, 50)));
  ASSERT_TRUE(set.remove(range(5, 45)));
  EXPECT_EQ(listed(set), (std::vector{range(0, 5), range(45, 50)}));
  ASSERT_TRUE(set.remove(range(1, 2)));
  EXPECT_EQ(listed(set), (std::vector{range(0, 1), range(2, 5), range(45, 50)}));
}

TEST(RangeSet, RefusesWhatDoesNotFitAndStaysAsItWas) {
  RangeSet<2> set;
  ASSERT_TRUE(set.insert(range(0, 10)));
  ASSERT_TRUE(set.insert(range(20, 30)));
  const auto before = listed(set);
  EXPECT_EQ(set.insert(range(40, 50)).error(), Error::no_memory);
  EXPECT_EQ(set.remove(range(3, 4)).error(), Error::no_memory);
  EXPECT_EQ(listed(set), before);
  EXPECT_TRUE(set.insert(range(10, 12))) << "an insert that joins needs no entry";
  EXPECT_TRUE(set.remove(range(0, 3))) << "a removal at an end needs no entry";
}

TEST(RangeSet, ShrinksToAWindowAndToGranules) {
  RangeSet<4> set;
  ASSERT_TRUE(set.insert(range(1, 9)));
  ASSERT_TRUE(set.insert(range(17, 23)));
  ASSERT_TRUE(set.insert(range(30, 60)));
  set.keep_only(range(3, 50));
  EXPECT_EQ(listed(set), (std::vector{range(3, 9), range(17, 23), range(30, 50)}));
  set.trim(4);
  EXPECT_EQ(listed(set), (std::vector{range(4, 8), range(32, 48)})) << "17..23 holds no whole granule";
}

TEST(RangeSet, AgreesWithABitmap) {
  constexpr usize kBytes = 256;
  std::mt19937 random(1);
  RangeSet<kBytes> set;
  std::vector<bool> model(kBytes);
  for (int step = 0; step < 20000; ++step) {
    const u64 start = random() % kBytes;
    const u64 end = start + random() % std::min<u64>(kBytes - start + 1, 40);
    const bool insert = random() % 2 == 0;
    ASSERT_TRUE(insert ? set.insert(range(start, end)) : set.remove(range(start, end)));
    std::fill(model.begin() + start, model.begin() + end, insert);

    std::vector<bool> seen(kBytes);
    u64 previous_end = 0;
    for (const PhysRange& entry : set.ranges()) {
      ASSERT_FALSE(entry.empty());
      ASSERT_TRUE(entry.start.value() > previous_end || (previous_end == 0 && entry.start.value() == 0))
          << "step " << step << ": entries overlap or touch";
      previous_end = entry.end().value();
      std::fill(seen.begin() + entry.start.value(), seen.begin() + previous_end, true);
    }
    ASSERT_EQ(seen, model) << "step " << step;
    ASSERT_EQ(set.contains(range(start, end)),
              std::all_of(model.begin() + start, model.begin() + end, [](bool in) { return in; }));
  }
}

}  // namespace
}  // namespace atl::mm
