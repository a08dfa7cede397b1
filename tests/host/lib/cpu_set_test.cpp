#include "lib/cpu_set.hpp"

#include <random>
#include <set>
#include <vector>

#include "tests/host/support.hpp"

namespace atl {
namespace {

std::vector<unsigned> members(const CpuSet& set) {
  std::vector<unsigned> list;
  set.for_each([&](unsigned cpu) { list.push_back(cpu); });
  return list;
}

TEST(CpuSet, StartsEmpty) {
  constexpr CpuSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.count(), 0u);
  EXPECT_TRUE(members(set).empty());
}

TEST(CpuSet, MembersPastTheFirstWord) {
  CpuSet set;
  for (unsigned cpu : {159u, 0u, 64u, 63u, kMaxCpus - 1}) set.add(cpu);
  EXPECT_EQ(members(set), (std::vector<unsigned>{0, 63, 64, 159, kMaxCpus - 1}));
  EXPECT_TRUE(set.contains(159));
  EXPECT_FALSE(set.contains(95)) << "159 mod 64 is 31, and 95 too";
  EXPECT_FALSE(set.contains(kMaxCpus));
  set.remove(159);
  EXPECT_FALSE(set.contains(159));
  EXPECT_EQ(set.count(), 4u);
}

TEST(CpuSet, FirstAndOf) {
  EXPECT_EQ(CpuSet::first(0), CpuSet());
  EXPECT_EQ(CpuSet::first(160).count(), 160u);
  EXPECT_TRUE(CpuSet::first(160).contains(159));
  EXPECT_FALSE(CpuSet::first(160).contains(160));
  EXPECT_EQ(CpuSet::first(kMaxCpus).count(), kMaxCpus);
  EXPECT_EQ(members(CpuSet::of(100)), std::vector<unsigned>{100});
}

TEST(CpuSet, AgreesWithAModel) {
  std::mt19937 random(1);
  CpuSet set;
  std::set<unsigned> model;
  for (unsigned step = 0; step < 5000; ++step) {
    const unsigned cpu = random() % kMaxCpus;
    if (random() % 2 != 0) {
      set.add(cpu);
      model.insert(cpu);
    } else {
      set.remove(cpu);
      model.erase(cpu);
    }
    ASSERT_EQ(set.count(), model.size());
  }
  EXPECT_EQ(members(set), std::vector<unsigned>(model.begin(), model.end()));
}

}  // namespace
}  // namespace atl
