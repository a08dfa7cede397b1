#include "percpu/events.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "tests/host/fake/percpu_units.hpp"

namespace atoll::percpu {
namespace {

TEST(Events, AreCountedWhereTheyHappenAndSummedOverTheGivenCpus) {
  arch::fake::PerCpuUnits units(3);
  for (unsigned cpu = 0; cpu < 3; ++cpu) {
    units.migrate_to(cpu);
    count(Event::call_served, cpu + 1);
    count(Event::tlb_broadcast);
  }
  EXPECT_EQ(total(Event::call_served, CpuSet::first(3)), 6u);
  EXPECT_EQ(total(Event::call_served, CpuSet::of(2)), 3u);
  EXPECT_EQ(total(Event::tlb_broadcast, CpuSet::first(3)), 3u);
  EXPECT_EQ(total(Event::pages_freed, CpuSet::first(3)), 0u);
}

TEST(Events, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (usize i = 0; i < kEventCount; ++i) names.insert(to_string(static_cast<Event>(i)));
  EXPECT_EQ(names.size(), kEventCount);
  EXPECT_FALSE(names.contains("?"));
}

}  // namespace
}  // namespace atoll::percpu
