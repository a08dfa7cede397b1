#include "arch-arm64/counter_rate.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace atl::arch {
namespace {

constexpr u64 kNsPerSecond = 1'000'000'000;
constexpr u64 kRates[] = {1, 24'000'000, 25'000'000, 62'500'000, 1'000'000'000, 0xffff'ffff};

TEST(CounterRate, ConvertsAsExactArithmeticDoes) {
  std::mt19937_64 random(1);
  for (const u64 hz : kRates) {
    const CounterRate rate(hz);
    for (int i = 0; i < 20000; ++i) {
      const u64 number = random() >> (random() % 64);
      if (const u128 ns = u128{number} * kNsPerSecond / hz; ns <= std::numeric_limits<u64>::max()) {
        ASSERT_EQ(rate.to_ns(number), static_cast<u64>(ns)) << number << " ticks at " << hz;
      }
      const u128 ticks = (u128{number} * hz + kNsPerSecond - 1) / kNsPerSecond;
      if (ticks <= std::numeric_limits<u64>::max()) {
        ASSERT_EQ(rate.to_ticks(number), static_cast<u64>(ticks)) << number << " ns at " << hz;
      }
    }
  }
}

TEST(CounterRate, ADeadlineIsNeverEarly) {
  std::mt19937_64 random(2);
  for (const u64 hz : kRates) {
    const CounterRate rate(hz);
    for (int i = 0; i < 20000; ++i) {
      const u64 ns = random() >> (24 + random() % 40);
      ASSERT_GE(rate.to_ns(rate.to_ticks(ns)), ns) << "at " << hz;
    }
  }
}

TEST(CounterRate, FiveHundredYears) {
  constexpr u64 kSeconds = u64{500} * 365 * 24 * 3600;
  EXPECT_EQ(CounterRate(62'500'000).to_ns(kSeconds * 62'500'000), kSeconds * kNsPerSecond);
  EXPECT_EQ(CounterRate(1'000'000'000).to_ticks(kSeconds * kNsPerSecond), kSeconds * kNsPerSecond);
}

}  // namespace
}  // namespace atl::arch
