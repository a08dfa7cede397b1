#include "percpu/cpu_number.hpp"

#include <gtest/gtest.h>

#include "tests/host/fake/percpu_units.hpp"

namespace atl::percpu {
namespace {

TEST(CpuNumber, IsEachUnitsOwn) {
  arch::fake::PerCpuUnits units(3);
  for (unsigned cpu = 0; cpu < 3; ++cpu) cpu_number.on(cpu) = cpu;
  for (unsigned cpu = 0; cpu < 3; ++cpu) {
    units.migrate_to(cpu);
    const IrqsOff here;
    EXPECT_EQ(cpu_number.here(here), cpu);
  }
}

}  // namespace
}  // namespace atl::percpu
