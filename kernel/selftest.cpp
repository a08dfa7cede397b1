#include "kernel/selftest.hpp"

#include <atomic>

#include "kernel/glob.hpp"
#include "lib/panic.hpp"

namespace atl {
namespace {

/// What has been said of the running test. Only the first failure's text is kept for its result line; each is
/// printed as it comes.
struct Record {
  static constexpr unsigned kMaxPrinted = 8;

  std::atomic<bool> checked = false;
  std::atomic<unsigned> failures = 0;
  std::atomic<const char*> skip_reason = nullptr;
  std::array<char, 200> text;
  std::atomic<bool> text_complete = false;

  void clear() {
    checked = false;
    failures = 0;
    skip_reason = nullptr;
    text_complete = false;
  }
};
constinit Record g_record{};

/// The test with the smallest name above `after`, or nullptr. With names unique, this walks them in order.
const Selftest* next_by_name(std::span<const Selftest* const> tests, std::string_view after,
                             std::string_view pattern) {
  const Selftest* best = nullptr;
  for (const Selftest* test : tests) {
    const std::string_view name = test->name;
    if (name > after && glob_match(pattern, name) && (best == nullptr || name < best->name)) best = test;
  }
  return best;
}

bool may_skip(const Selftest& test, std::string_view reason) {
  for (const char* allowed : test.may_skip) {
    if (allowed != nullptr && reason == allowed) return true;
  }
  return false;
}

void run_one(const Selftest& test, unsigned number, SelftestSummary& summary) {
  g_record.clear();
  test.run();

  const char* skip_reason = g_record.skip_reason;
  if (skip_reason != nullptr && !may_skip(test, skip_reason)) {
    selftest_fail("skipped for a reason that it does not list: {}", skip_reason);
  } else if (skip_reason == nullptr && !g_record.checked && g_record.failures == 0) {
    selftest_fail("nothing was checked");
  }
  if (g_record.failures != 0) {
    ++summary.failed;
    const bool readable = g_record.text_complete.load(std::memory_order_acquire);
    print("not ok {} {} # {}\n", number, test.name,
          readable ? g_record.text.data() : "failed on another CPU");
  } else if (skip_reason != nullptr) {
    ++summary.skipped;
    print("ok {} {} # SKIP {}\n", number, test.name, skip_reason);
  } else {
    ++summary.passed;
    print("ok {} {}\n", number, test.name);
  }
}

}  // namespace

SelftestSummary run_selftests(std::span<const Selftest* const> tests, std::string_view pattern) {
  unsigned planned = 0;
  for (const Selftest* test : tests) planned += glob_match(pattern, test->name) ? 1 : 0;
  print("KTAP version 1\n1..{}\n", planned);

  SelftestSummary summary;
  unsigned run = 0;
  std::string_view last;
  while (const Selftest* test = next_by_name(tests, last, pattern)) {
    run_one(*test, ++run, summary);
    last = test->name;
  }
  if (planned == 0) print("# no selftest matches \"{}\"\n", ForeignText{pattern});
  if (run != planned) panic("selftest: {} planned, {} run: two tests have one name", planned, run);
  print("# {} passed, {} failed, {} skipped\n", summary.passed, summary.failed, summary.skipped);
  return summary;
}

void selftest_checked() {
  // Read first: 160 CPUs that check in a loop must not fight for the line.
  if (!g_record.checked.load(std::memory_order_relaxed))
    g_record.checked.store(true, std::memory_order_relaxed);
}

void selftest_fail_with(std::source_location where, const char* format,
                        std::span<const FormatArgument> arguments) {
  const unsigned earlier = g_record.failures.fetch_add(1, std::memory_order_relaxed);
  if (earlier >= Record::kMaxPrinted) return;

  std::array<char, 200> buffer;
  BufferSink text(earlier == 0 ? std::span<char>(g_record.text) : std::span<char>(buffer));
  format_to(text, format, arguments);
  print("# {}:{}: {}\n", where.file_name(), where.line(), text.text());
  if (earlier == 0) g_record.text_complete.store(true, std::memory_order_release);
}

void selftest_skip(const char* reason) { g_record.skip_reason.store(reason, std::memory_order_relaxed); }

}  // namespace atl
