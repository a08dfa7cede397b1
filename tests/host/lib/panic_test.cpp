#include "lib/panic.hpp"

#include <string>

#include "tests/host/support.hpp"

namespace atl {
namespace {

TEST(Panic, CarriesMessageAndPlace) {
  try {
    panic("slot {} of {} is not free", 3, 16u);
    FAIL() << "panic returned";
  } catch (const host::PanicException& caught) {
    EXPECT_STREQ(caught.what(), "slot 3 of 16 is not free");
    EXPECT_NE(std::string(caught.where().file_name()).find("panic_test.cpp"), std::string::npos);
  }
}

TEST(Panic, AssertNamesTheConditionAndRunsItOnce) {
  int evaluations = 0;
  ATOLL_ASSERT(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
  EXPECT_PANIC(ATOLL_ASSERT(evaluations == 2), "assertion failed: evaluations == 2");
}

}  // namespace
}  // namespace atl
