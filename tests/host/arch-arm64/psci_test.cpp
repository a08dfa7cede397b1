#include "arch-arm64/psci.hpp"

#include <gtest/gtest.h>

namespace atl::arch::psci {
namespace {

u64 returned(int value) { return static_cast<u64>(static_cast<i64>(value)); }

TEST(Psci, SuccessAndErrors) {
  EXPECT_TRUE(to_result(0).has_value());
  EXPECT_EQ(to_result(returned(-1)).error(), Error::not_supported);
  EXPECT_EQ(to_result(returned(-2)).error(), Error::invalid_argument);
  EXPECT_EQ(to_result(returned(-3)).error(), Error::denied);
  EXPECT_EQ(to_result(returned(-4)).error(), Error::already_exists) << "ALREADY_ON";
  EXPECT_EQ(to_result(returned(-5)).error(), Error::already_exists) << "ON_PENDING";
  EXPECT_EQ(to_result(returned(-6)).error(), Error::bad_firmware_data);
  EXPECT_EQ(to_result(returned(-7)).error(), Error::not_found);
  EXPECT_EQ(to_result(returned(-8)).error(), Error::denied);
  EXPECT_EQ(to_result(returned(-9)).error(), Error::invalid_argument);
}

TEST(Psci, UpperHalfOfTheRegisterIsNotPartOfTheResult) {
  EXPECT_TRUE(to_result(0xdead'beef'0000'0000).has_value());
  EXPECT_EQ(to_result(0x0000'0000'ffff'fffc).error(), Error::already_exists);
}

TEST(Psci, UndefinedValuesAreErrors) {
  EXPECT_EQ(to_result(1).error(), Error::bad_firmware_data);
  EXPECT_EQ(to_result(returned(-100)).error(), Error::bad_firmware_data);
}

TEST(Psci, Case6_AVersionIsWhatTellsPsciFromAnythingElse) {
  const Result<Version> version = to_version(0xdead'beef'0001'0001);
  ASSERT_TRUE(version.has_value());
  EXPECT_EQ(version->major, 1u);
  EXPECT_EQ(version->minor, 1u);
  EXPECT_EQ(to_version(2)->minor, 2u) << "0.2, the first that answers this question";

  EXPECT_EQ(to_version(returned(-1)).error(), Error::not_supported) << "an error was taken for a version";
  EXPECT_EQ(to_version(kVersion).error(), Error::bad_firmware_data) << "nobody has touched the register";
  for (const int nonsense : {0, 1, -100}) {
    EXPECT_EQ(to_version(returned(nonsense)).error(), Error::bad_firmware_data) << nonsense;
  }
}

}  // namespace
}  // namespace atl::arch::psci
