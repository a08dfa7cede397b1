#include "kernel/roll_call.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <thread>

namespace atl {
namespace {

TEST(RollCall, AMoveNeedsTheStateItStartsFrom) {
  RollCall roll_call;
  EXPECT_EQ(roll_call.state(3), CpuState::off);
  EXPECT_TRUE(roll_call.move(3, CpuState::off, CpuState::starting));
  EXPECT_FALSE(roll_call.move(3, CpuState::arrived, CpuState::online));
  EXPECT_EQ(roll_call.state(3), CpuState::starting);
  EXPECT_EQ(roll_call.in(CpuState::starting), CpuSet::of(3));
}

TEST(RollCall, ACpuThatComesAfterTheCloseIsNotCountedOn) {
  RollCall roll_call;
  for (unsigned cpu : {1u, 2u}) roll_call.move(cpu, CpuState::off, CpuState::starting);
  EXPECT_TRUE(roll_call.move(1, CpuState::starting, CpuState::arrived));
  roll_call.close(CpuState::starting, CpuState::did_not_start);
  EXPECT_FALSE(roll_call.move(2, CpuState::starting, CpuState::arrived));
  EXPECT_EQ(roll_call.state(2), CpuState::did_not_start);
  EXPECT_EQ(roll_call.in(CpuState::arrived), CpuSet::of(1));
  EXPECT_EQ(roll_call.state(kMaxCpus - 1), CpuState::off);
}

TEST(RollCall, CloseAndArrivalAgreeOnWhoWasInTime) {
  for (int round = 0; round < 200; ++round) {
    RollCall roll_call;
    roll_call.move(1, CpuState::off, CpuState::starting);
    bool joined = false;
    std::thread cpu([&] { joined = roll_call.move(1, CpuState::starting, CpuState::arrived); });
    roll_call.close(CpuState::starting, CpuState::did_not_start);
    const CpuState seen = roll_call.state(1);
    cpu.join();
    ASSERT_EQ(joined, seen == CpuState::arrived);
    ASSERT_EQ(roll_call.state(1), seen) << "the state changed after the roll call";
  }
}

TEST(RollCall, PatienceGrowsWithTheMachine) {
  constexpr u64 kSecond = 1'000'000'000;
  EXPECT_LE(2 * patience_ns(4), 5 * kSecond) << "two waits for dead CPUs, and the boot ends within 10 s";
  EXPECT_GE(patience_ns(160), 10 * kSecond);
}

TEST(RollCall, EachStateHasItsOwnWords) {
  std::set<std::string_view> words;
  for (unsigned i = 0; i <= static_cast<unsigned>(CpuState::did_not_answer); ++i) {
    words.insert(to_string(static_cast<CpuState>(i)));
  }
  EXPECT_EQ(words.size(), static_cast<usize>(CpuState::did_not_answer) + 1);
  EXPECT_FALSE(words.contains("?"));
}

}  // namespace
}  // namespace atl
