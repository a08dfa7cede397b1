#include "kernel/glob.hpp"

#include <gtest/gtest.h>

#include <string>

namespace atl {
namespace {

TEST(Glob, WholeTextMustMatch) {
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("percpu", "percpu"));
  EXPECT_FALSE(glob_match("percpu", "percpu_roots"));
  EXPECT_TRUE(glob_match("percpu*", "percpu_roots"));
  EXPECT_TRUE(glob_match("*root?", "percpu_roots"));
  EXPECT_FALSE(glob_match("*root?", "percpu_root"));
  EXPECT_TRUE(glob_match("case2*_*tlb*", "case20_tlbi_operand_tlb"));
  EXPECT_FALSE(glob_match("", "x"));
}

TEST(Glob, ManyStarsStayCheap) {
  const std::string text(2000, 'a');
  EXPECT_FALSE(glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

}  // namespace
}  // namespace atl
