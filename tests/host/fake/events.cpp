#include "tests/host/fake/events.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "tests/host/fake/registers.hpp"

namespace atl::arch::fake {
namespace {

struct Log {
  std::mutex mutex;
  std::vector<Event> events;
  std::function<void(const Event&)> observer;
};

Log& log() {
  static Log log;
  return log;
}

}  // namespace

const char* to_string(Operation operation) {
  switch (operation) {
    case Operation::publish_table: return "publish_table";
    case Operation::publish_descriptor: return "publish_descriptor";
    case Operation::install_root: return "install_root";
    case Operation::drop_identity_map: return "drop_identity_map";
    case Operation::tlb_flush_page: return "tlb_flush_page";
    case Operation::tlb_flush_all: return "tlb_flush_all";
    case Operation::tlb_flush_all_local: return "tlb_flush_all_local";
    case Operation::sync_instructions: return "sync_instructions";
    case Operation::clean_to_poc: return "clean_to_poc";
    case Operation::wait_for_interrupt: return "wait_for_interrupt";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, const Event& event) {
  return out << to_string(event.operation) << "(0x" << std::hex << event.address << std::dec << ")";
}

std::vector<Event> events() {
  const std::scoped_lock hold(log().mutex);
  return log().events;
}

void clear_events() {
  const std::scoped_lock hold(log().mutex);
  log().events.clear();
}

usize count(Operation operation) {
  const std::scoped_lock hold(log().mutex);
  return static_cast<usize>(std::ranges::count(log().events, operation, &Event::operation));
}

void observe(std::function<void(const Event&)> observer) {
  const std::scoped_lock hold(log().mutex);
  log().observer = std::move(observer);
}

void reset() {
  clear_events();
  observe(nullptr);
  set_translation(nullptr);
  registers() = {};
}

void record(Operation operation, u64 address) {
  const Event event{operation, address};
  std::function<void(const Event&)> observer;
  {
    const std::scoped_lock hold(log().mutex);
    log().events.push_back(event);
    observer = log().observer;
  }
  if (observer) observer(event);
}

}  // namespace atl::arch::fake
