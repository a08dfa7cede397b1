#include "percpu/events.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "tests/host/fake/percpu_units.hpp"

namespace atl::percpu {
namespace {

TEST(Events, CountAddsToTheExecutingCpusCopy) {
  const u64 before = total(Event::call_served, CpuSet::of(0));
  count(Event::call_served);
  count(Event::call_served, 4);
  EXPECT_EQ(total(Event::call_served, CpuSet::of(0)), before + 5);
}

TEST(Events, TotalSumsOverTheGivenCpusAlone) {
  arch::fake::PerCpuUnits units(3);
  for (unsigned cpu = 0; cpu < 3; ++cpu)
    event_counts.on(cpu)[static_cast<usize>(Event::tlb_broadcast)] = cpu + 1;
  EXPECT_EQ(total(Event::tlb_broadcast, CpuSet::first(3)), 6u);
  EXPECT_EQ(total(Event::tlb_broadcast, CpuSet::of(2)), 3u);
  EXPECT_EQ(total(Event::tlb_broadcast, CpuSet()), 0u);
}

TEST(Events, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (usize i = 0; i < kEventCount; ++i) names.insert(to_string(static_cast<Event>(i)));
  EXPECT_EQ(names.size(), kEventCount);
  EXPECT_FALSE(names.contains("?"));
}

}  // namespace
}  // namespace atl::percpu
