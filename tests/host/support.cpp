#include "tests/host/support.hpp"

#include <cstdio>

#include "lib/panic.hpp"
#include "tests/host/fake/events.hpp"

namespace atl {

void panic_with(std::source_location where, const char* format, std::span<const FormatArgument> arguments) {
  host::StringSink message;
  format_to(message, format, arguments);
  throw host::PanicException(message.text(), where);
}

namespace host {
namespace {

class StdoutSink final : public FormatSink {
 public:
  void write(std::string_view text) override { std::fwrite(text.data(), 1, text.size(), stdout); }
};
StdoutSink stdout_sink;

/// No test sees the machine events of the one before it.
class FreshStart final : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { arch::fake::reset(); }
};

/// GoogleTest's own main runs the tests, so the set-up hangs on a global object.
[[maybe_unused]] const bool set_up = [] {
  set_print_sink(&stdout_sink);
  ::testing::UnitTest::GetInstance()->listeners().Append(new FreshStart);
  return true;
}();

}  // namespace

CapturedPrint::CapturedPrint() { set_print_sink(&sink_); }
CapturedPrint::~CapturedPrint() { set_print_sink(&stdout_sink); }

}  // namespace host
}  // namespace atl
