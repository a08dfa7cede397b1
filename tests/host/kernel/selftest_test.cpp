#include "kernel/selftest.hpp"

#include <string>

#include "tests/host/kernel/selftest_samples.hpp"
#include "tests/host/support.hpp"

namespace atl {
namespace {

struct Run {
  SelftestSummary summary;
  std::string text;
};

Run run(std::string_view pattern) {
  host::CapturedPrint printed;
  const SelftestSummary summary = run_selftests(kSelftestSamples, pattern);
  return {summary, printed.text()};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Selftest, PlanFirstThenResultsByName) {
  const auto [summary, text] = run("*");
  EXPECT_TRUE(text.starts_with("KTAP version 1\n1..6\nok 1 a_passes\n")) << text;
  EXPECT_TRUE(text.ends_with("# 1 passed, 4 failed, 1 skipped\n")) << text;
  EXPECT_EQ(summary.passed, 1u);
  EXPECT_EQ(summary.failed, 4u);
  EXPECT_EQ(summary.skipped, 1u);
}

TEST(Selftest, AFailureNamesTheFirstAndPrintsAll) {
  const std::string text = run("b*").text;
  EXPECT_TRUE(contains(text, "not ok 1 b_fails # 2u + 2u is 4, expected 5\n")) << text;
  EXPECT_TRUE(contains(text, "selftest_samples.cpp:")) << text;
  EXPECT_TRUE(contains(text, ": expected false\n")) << text;
  EXPECT_TRUE(contains(run("f*").text, "not ok 1 f_has_a_message # cpu 3 read the old page\n"));
}

TEST(Selftest, SkipsOnlyForListedReasons) {
  EXPECT_TRUE(contains(run("c*").text, "ok 1 c_skips # SKIP no FEAT_LSE\n"));
  EXPECT_TRUE(contains(run("d*").text,
                       "not ok 1 d_skips_unlisted # skipped for a reason that it does not list: no time\n"));
}

TEST(Selftest, ATestThatChecksNothingFails) {
  EXPECT_TRUE(contains(run("e*").text, "not ok 1 e_checks_nothing # nothing was checked\n"));
}

TEST(Selftest, AnEmptyPlanIsNoPass) {
  const auto [summary, text] = run("z*");
  EXPECT_EQ(text, "KTAP version 1\n1..0\n# no selftest matches \"z*\"\n# 0 passed, 0 failed, 0 skipped\n");
  EXPECT_TRUE(summary.is_empty()) << "an empty plan shows nothing";
  host::CapturedPrint printed;
  EXPECT_TRUE(run_selftests({}, "*").is_empty());
  EXPECT_FALSE(run("c*").summary.is_empty()) << "a skip is an answer";
  EXPECT_FALSE(run("b*").summary.is_empty());
}

TEST(Selftest, TwoOfOneNameBreakThePlan) {
  const std::array<const Selftest*, 2> twice{kSelftestSamples[2], kSelftestSamples[2]};
  host::CapturedPrint printed;
  EXPECT_PANIC(run_selftests(twice, "*"), "2 planned, 1 run");
}

}  // namespace
}  // namespace atl
