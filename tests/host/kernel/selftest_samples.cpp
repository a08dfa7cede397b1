// Selftests for selftest_test.cpp, written as in the kernel: in a file of its own, since their checks have the
// names of GoogleTest's.
#include "tests/host/kernel/selftest_samples.hpp"

#include "tests/kernel/selftest.hpp"

namespace atl {

ATOLL_SELFTEST(a_passes) {
  EXPECT(true);
  EXPECT_EQ(1u + 1u, 2u);
  EXPECT_THAT(true, "never said");
}
ATOLL_SELFTEST(b_fails) {
  EXPECT_EQ(2u + 2u, 5u);
  EXPECT(false);
}
ATOLL_SELFTEST(c_skips, "no such CPU", "no FEAT_LSE") { return selftest_skip("no FEAT_LSE"); }
ATOLL_SELFTEST(d_skips_unlisted, "no FEAT_LSE") { return selftest_skip("no time"); }
ATOLL_SELFTEST(e_checks_nothing) {}
ATOLL_SELFTEST(f_has_a_message) { EXPECT_THAT(false, "cpu {} read {}", 3u, "the old page"); }

// Not in order: a run sorts by name.
const std::array<const Selftest*, 6> kSelftestSamples{&selftest_f_has_a_message,  &selftest_c_skips,
                                                      &selftest_a_passes,         &selftest_e_checks_nothing,
                                                      &selftest_d_skips_unlisted, &selftest_b_fails};

}  // namespace atl
