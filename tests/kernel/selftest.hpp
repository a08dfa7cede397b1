// How an in-kernel selftest is written:
//
//   ATOLL_SELFTEST(case20_remap_is_seen) { EXPECT_EQ(read(a), 7); }
//   ATOLL_SELFTEST(lse_forms, "no FEAT_LSE") {
//     if (!features.lse) return selftest_skip("no FEAT_LSE");
//     …
//   }
//
// It runs on the boot CPU, IRQs enabled, all CPUs online. The checks may be made on any CPU, so in functions
// that `call_on` runs too. After the name stand the only reasons for which the test may be skipped.
#pragma once

#include "kernel/selftest.hpp"

#define ATOLL_SELFTEST(name, ...)                                                       \
  static void selftest_body_##name();                                                   \
  static constexpr ::atl::Selftest selftest_##name{#name, selftest_body_##name, {__VA_ARGS__}}; \
  [[gnu::section(".selftests"), gnu::used]] static const ::atl::Selftest* const selftest_entry_##name = \
      &selftest_##name;                                                                 \
  static void selftest_body_##name()

/// Records "expected <condition>" if it does not hold. Evaluates once.
#define EXPECT(condition)                                                             \
  do {                                                                                \
    ::atl::selftest_checked();                                                      \
    if (!(condition)) ::atl::selftest_fail("expected {}", #condition);              \
  } while (false)

/// The two are equal; both are printed if not. Numbers, addresses, texts.
#define EXPECT_EQ(actual, wanted)                                                     \
  do {                                                                                \
    ::atl::selftest_checked();                                                      \
    const auto& selftest_actual = (actual);                                           \
    const auto& selftest_wanted = (wanted);                                           \
    if (!(selftest_actual == selftest_wanted)) {                                      \
      ::atl::selftest_fail("{} is {}, expected {}", #actual, selftest_actual, selftest_wanted); \
    }                                                                                 \
  } while (false)

/// As EXPECT, with a message that a planted fault is known by: EXPECT_THAT(ok, "cpu {} kept {}", cpu, page).
#define EXPECT_THAT(condition, ...)                                                   \
  do {                                                                                \
    ::atl::selftest_checked();                                                      \
    if (!(condition)) ::atl::selftest_fail(__VA_ARGS__);                            \
  } while (false)
