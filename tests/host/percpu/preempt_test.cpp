#include "percpu/preempt.hpp"

#include <gtest/gtest.h>

#include "percpu/migration.hpp"
#include "tests/host/support.hpp"

namespace atl::percpu {
namespace {

ThreadState thread;
unsigned reschedules;
unsigned requests_from_hook;

class PreemptTest : public testing::Test {
 protected:
  PreemptTest() {
    thread = {};
    reschedules = 0;
    requests_from_hook = 0;
    arch::set_current(&thread);
    set_preempt_hook([] {
      ++reschedules;
      EXPECT_EQ(thread.preempt.count(), 1u);
      if (requests_from_hook > 0) {
        --requests_from_hook;
        request_reschedule();
      }
    });
  }
  ~PreemptTest() override { set_preempt_hook(nullptr); }
};

TEST_F(PreemptTest, CountsNestedSections) {
  preempt_disable();
  preempt_disable();
  EXPECT_EQ(thread.preempt.count(), 2u);
  preempt_enable();
  preempt_enable();
  EXPECT_EQ(thread.preempt.count(), 0u);
  EXPECT_EQ(reschedules, 0u);
}

TEST_F(PreemptTest, RequestIsServedWhenTheLastSectionEnds) {
  preempt_disable();
  request_reschedule();
  preempt_disable();
  preempt_enable();
  EXPECT_EQ(reschedules, 0u);
  preempt_enable();
  EXPECT_EQ(reschedules, 1u) << "preempt_enable did not serve the request";
  EXPECT_FALSE(thread.preempt.requested());
}

TEST_F(PreemptTest, ARequestThatComesMeanwhileIsServedToo) {
  requests_from_hook = 2;
  request_reschedule();
  preempt_disable();
  preempt_enable();
  EXPECT_EQ(reschedules, 3u);
}

TEST_F(PreemptTest, MaskedInterruptsPutItOff) {
  request_reschedule();
  arch::irq_disable();
  preempt_disable();
  preempt_enable();
  EXPECT_EQ(reschedules, 0u);
  EXPECT_TRUE(thread.preempt.requested());
  arch::irq_enable();
  preempt_disable();
  preempt_enable();
  EXPECT_EQ(reschedules, 1u);
}

TEST_F(PreemptTest, WithoutASchedulerARequestIsDropped) {
  set_preempt_hook(nullptr);
  request_reschedule();
  preempt_disable();
  preempt_enable();
  EXPECT_FALSE(thread.preempt.requested());
  EXPECT_EQ(thread.preempt.count(), 0u);
}

TEST_F(PreemptTest, EnablingTooOftenPanics) {
  EXPECT_PANIC(preempt_enable(), "preemption enabled more often than disabled");
}

TEST_F(PreemptTest, StateIsOneWordThatIsZeroWhenDue) {
  EXPECT_FALSE(thread.preempt.due());
  thread.preempt.request();
  EXPECT_TRUE(thread.preempt.due());
  thread.preempt.disable();
  EXPECT_FALSE(thread.preempt.due());
}

TEST_F(PreemptTest, EnteringACpuMakesItsIdleThreadCurrent) {
  enter_cpu_context();
  EXPECT_NE(arch::current(), &thread);
  EXPECT_EQ(current_thread().preempt.count(), 0u);
  EXPECT_FALSE(current_thread().preempt.requested());
}

}  // namespace
}  // namespace atl::percpu
