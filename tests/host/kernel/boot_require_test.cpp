#include "kernel/boot_require.hpp"

#include "tests/host/support.hpp"

namespace atl {
namespace {

TEST(BootRequire, GivesTheValue) {
  EXPECT_EQ(require(Result<int>(7), "seven"), 7);
  require(Result<>(), "nothing");
}

TEST(BootRequire, PanicNamesWhatFailedAndWhere) {
  const std::string message =
      host::panic_message([] { require(Result<int>(fail(Error::no_memory)), "roots"); });
  EXPECT_NE(message.find("boot: roots: "), std::string::npos) << message;
  EXPECT_NE(message.find("boot_require_test.cpp:"), std::string::npos) << message;
}

}  // namespace
}  // namespace atl
