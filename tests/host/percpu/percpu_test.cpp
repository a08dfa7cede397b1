#include "percpu/percpu.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/host/fake/percpu_units.hpp"
#include "tests/host/support.hpp"

namespace atl::percpu {
namespace {

struct Statistics {
  u64 switches = 0;
  u32 faults = 7;
  std::array<u16, 4> kinds{};
};

ATOLL_PER_CPU PerCpu<u64> counter{u64{100}};
ATOLL_PER_CPU PerCpu<Statistics> statistics;
ATOLL_PER_CPU PerCpu<std::array<u32, 3>> table;
constinit PerCpu<u64> misplaced;

// Names never leak.
template <class T>
concept AddressCanBeTaken = requires(T& t) { &t; };
static_assert(!AddressCanBeTaken<PerCpu<u64>> && !AddressCanBeTaken<const PerCpu<u64>>);
static_assert(!std::is_copy_constructible_v<PerCpu<u64>> && !std::is_copy_assignable_v<PerCpu<u64>>);
static_assert(!std::is_convertible_v<PerCpu<u64>&, u64&> && !std::is_convertible_v<PerCpuPtr<u64>, u64*>);

class PerCpuTest : public testing::Test {
 protected:
  arch::fake::PerCpuUnits units{3};
};

TEST_F(PerCpuTest, EveryCopyStartsWithTheInitialValue) {
  for (unsigned cpu = 0; cpu < 3; ++cpu) {
    EXPECT_EQ(counter.on(cpu), 100u);
    EXPECT_EQ(statistics.on(cpu).faults, 7u);
  }
}

TEST_F(PerCpuTest, OnReachesOneCpusCopy) {
  counter.on(1) = 5;
  EXPECT_EQ(counter.on(0), 100u);
  EXPECT_EQ(counter.on(1), 5u);
  EXPECT_EQ(counter.on(2), 100u);
}

TEST_F(PerCpuTest, HereIsTheExecutingCpusCopyByItsGlobalAlias) {
  units.migrate_to(2);
  const IrqsOff token;
  u64& mine = counter.here(token);
  mine = 9;
  EXPECT_EQ(counter.on(2), 9u);
  EXPECT_EQ(&mine, &counter.on(2)) << "here() gave a local address";
  EXPECT_FALSE(is_local_address(&mine)) << "here() gave a local address";
  units.migrate_to(0);
  EXPECT_EQ(&mine, &counter.on(2));
}

TEST_F(PerCpuTest, PartsAreObjectsOfTheirOwn) {
  const PerCpuPtr<u32> faults = statistics.field(&Statistics::faults);
  EXPECT_EQ(&faults.on(1), &statistics.on(1).faults);
  const PerCpuPtr<u16> kind = statistics.field(&Statistics::kinds).element(3);
  EXPECT_EQ(&kind.on(2), &statistics.on(2).kinds[3]);
  EXPECT_EQ(&table.element(1).on(0), &table.on(0)[1]);
}

TEST_F(PerCpuTest, PointersAreMadeFromLocalAddresses) {
  const PerCpuPtr<u64> p = PerCpuPtr<u64>::at(counter.pointer().local_address());
  EXPECT_TRUE(p);
  EXPECT_EQ(p, counter.pointer());
  EXPECT_EQ(&p.on(2), &counter.on(2));
  EXPECT_FALSE(PerCpuPtr<u64>());
}

TEST_F(PerCpuTest, Case26_APointerThatIsNoLocalAddressIsRefused) {
  EXPECT_PANIC(misplaced.on(0), "no local address");
  // A global alias that came from another CPU must not be shifted once more.
  EXPECT_PANIC(PerCpuPtr<u64>::at(address_of(&counter.on(1))).on(2), "no local address");
}

}  // namespace
}  // namespace atl::percpu
