#include "kernel/window_check.hpp"

#include "arch-arm64/percpu_window.hpp"
#include "percpu/cpu_number.hpp"
#include "tests/host/fake/events.hpp"
#include "tests/host/support.hpp"

namespace atl {
namespace {

// All CPUs see the same window here, so what the register says is what differs.
TEST(WindowCheck, NamesTheCpuWhoseWindowIsSeen) {
  using Window = arch::KernelPerCpuWindow;
  percpu::cpu_number.on(0) = 3;
  arch::fake::set_percpu_offset(Window::percpu_offset(3));
  EXPECT_EQ(host::panic_message(check_window), "");
  arch::fake::set_percpu_offset(Window::percpu_offset(2));
  EXPECT_EQ(host::panic_message(check_window), "TLB sharing: CPU 2 sees the window of CPU 3");
  arch::fake::set_percpu_offset(0);
  percpu::cpu_number.on(0) = 0;
}

}  // namespace
}  // namespace atl
