#include "lib/result.hpp"

#include <memory>
#include <string>

#include "tests/host/support.hpp"

namespace atl {
namespace {

Result<unsigned> half(unsigned n) {
  if (n % 2 != 0) return fail(Error::invalid_argument);
  return n / 2;
}
Result<unsigned> quarter(unsigned n) {
  const unsigned once = TRY(half(n));
  return TRY(half(once));
}
Result<> check(unsigned n) {
  TRY(half(n));
  return {};
}

TEST(Result, TryGivesTheValue) {
  EXPECT_EQ(quarter(12), 3u);
  EXPECT_TRUE(check(2).has_value());
}

TEST(Result, TryReturnsTheFailureWithTheLineThatFailed) {
  const Result<unsigned> odd = quarter(6);
  ASSERT_FALSE(odd.has_value());
  EXPECT_EQ(odd.error(), Error::invalid_argument);
  EXPECT_NE(std::string(odd.error().file).find("result_test.cpp"), std::string::npos);
  EXPECT_EQ(odd.error().line, half(3).error().line);
  EXPECT_EQ(check(3).error(), Error::invalid_argument);
}

TEST(Result, TryMovesWhatItGives) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto take = [&]() -> Result<int> {
    const std::unique_ptr<int> owned = TRY(make());
    return *owned;
  };
  EXPECT_EQ(take(), 7);
}

TEST(Result, TryLeavesAnExistingResultItsError) {
  const auto pass = [](Result<unsigned> r) -> Result<unsigned> { return TRY(r); };
  EXPECT_EQ(pass(half(1)).error(), Error::invalid_argument);
}

TEST(Result, EveryErrorHasItsOwnName) {
  std::string names;
  for (unsigned e = 0; e <= static_cast<unsigned>(Error::bad_firmware_data); ++e) {
    const std::string name = to_string(static_cast<Error>(e));
    EXPECT_NE(name, "unknown error") << "error " << e;
    EXPECT_EQ(names.find(name), std::string::npos) << name;
    names += name + ";";
  }
  EXPECT_STREQ(to_string(Error::no_memory), "out of memory");
}

}  // namespace
}  // namespace atl
