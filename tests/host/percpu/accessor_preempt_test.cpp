#include "percpu/accessor_preempt.hpp"

#include <gtest/gtest.h>

#include "tests/host/fake/percpu_units.hpp"

namespace atl::percpu {
namespace {

ATOLL_PER_CPU u64 word = 1;

ThreadState thread;
unsigned reschedules;
u64 seen_by_hook;

TEST(PreemptAccessor, OperatesOnTheExecutingCpusCopy) {
  thread = {};
  arch::set_current(&thread);
  arch::fake::PerCpuUnits units(3);
  units.migrate_to(2);
  PreemptAccessor::add(&word, u64{10});
  units.migrate_to(1);
  PreemptAccessor::add(&word, u64{20});
  EXPECT_EQ(PreemptAccessor::read(static_cast<const u64*>(&word)), 21u);
  units.migrate_to(2);
  EXPECT_EQ(PreemptAccessor::exchange(&word, u64{0}), 11u);
  EXPECT_EQ(word, 1u) << "the template was written";
}

TEST(PreemptAccessor, ServesARequestAfterTheOperation) {
  thread = {};
  arch::set_current(&thread);
  reschedules = 0;
  set_preempt_hook([] {
    ++reschedules;
    seen_by_hook = word;
  });
  word = 1;
  thread.preempt.request();
  PreemptAccessor::add(&word, u64{4});
  set_preempt_hook(nullptr);
  EXPECT_EQ(reschedules, 1u);
  EXPECT_EQ(seen_by_hook, 5u) << "rescheduled inside the operation";
  EXPECT_EQ(thread.preempt.count(), 0u);
  word = 1;
}

}  // namespace
}  // namespace atl::percpu
