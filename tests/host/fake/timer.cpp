#include "tests/host/fake/timer.hpp"

namespace atl::arch {
namespace {

struct Timer {
  u64 ticks = 0;
  std::optional<u64> deadline;
};
thread_local Timer timer;

}  // namespace

namespace fake {

void set_ticks(u64 ticks) { timer.ticks = ticks; }
std::optional<u64> deadline() { return timer.deadline; }

}  // namespace fake

u64 timer_ticks() { return timer.ticks; }
void timer_set_deadline(u64 deadline) { timer.deadline = deadline; }
void timer_cancel() { timer.deadline.reset(); }

}  // namespace atl::arch
