#include "kernel/wait.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "tests/host/fake/events.hpp"
#include "tests/host/fake/timer.hpp"
#include "tests/host/support.hpp"

namespace atl {
namespace {

namespace fake = arch::fake;

/// `meanwhile` happens while the CPU is in WFI.
void on_wfi(std::function<void()> meanwhile) {
  fake::observe([meanwhile = std::move(meanwhile)](const fake::Event& event) {
    if (event.operation == fake::Operation::wait_for_interrupt) meanwhile();
  });
}

usize wfis() { return fake::count(fake::Operation::wait_for_interrupt); }

TEST(Wait, ReturnsAtOnceIfTheConditionHolds) {
  wait_until([] { return true; });
  EXPECT_EQ(wfis(), 0u);
  EXPECT_FALSE(arch::irqs_masked());
}

// Between a check with IRQs unmasked and the WFI the wake-up could come and go.
TEST(Wait, Case43_ChecksAndWaitsWithIrqsMasked) {
  int checks = 0;
  on_wfi([] { EXPECT_TRUE(arch::irqs_masked()); });
  wait_until([&] {
    EXPECT_TRUE(arch::irqs_masked());
    return ++checks == 4;
  });
  EXPECT_EQ(wfis(), 3u);
  EXPECT_FALSE(arch::irqs_masked());
}

TEST(Wait, GoesOnWaitingAfterInterruptsOfOthers) {
  int interrupts = 0;
  on_wfi([&] { ++interrupts; });
  wait_until([&] { return interrupts == 5; });
  EXPECT_EQ(interrupts, 5);
}

TEST(Wait, UntilTheDeadline) {
  fake::set_ticks(100);
  on_wfi([] {
    EXPECT_EQ(fake::deadline(), 300u);
    fake::set_ticks(arch::timer_ticks() + 50);
  });
  EXPECT_FALSE(wait_until([] { return false; }, 300));
  EXPECT_EQ(arch::timer_ticks(), 300u);
  EXPECT_EQ(wfis(), 4u);
  EXPECT_EQ(fake::deadline(), std::nullopt) << "the timer is let go";
}

TEST(Wait, BeforeTheDeadline) {
  fake::set_ticks(0);
  bool woken = false;
  on_wfi([&] { woken = true; });
  EXPECT_TRUE(wait_until([&] { return woken; }, 1000));
  EXPECT_EQ(wfis(), 1u);
  EXPECT_EQ(fake::deadline(), std::nullopt);
}

TEST(Wait, AConditionThatHoldsAtTheDeadlineCounts) {
  fake::set_ticks(1000);
  EXPECT_TRUE(wait_until([] { return true; }, 1000));
  EXPECT_FALSE(wait_until([] { return false; }, 1000));
  EXPECT_EQ(wfis(), 0u);
}

}  // namespace
}  // namespace atl
