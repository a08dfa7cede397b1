#include "kernel/window_check.hpp"

#include "arch-arm64/percpu_window.hpp"
#include "arch/cpu.hpp"
#include "lib/panic.hpp"
#include "percpu/cpu_number.hpp"

namespace atl {

void check_window() {
  const unsigned by_register = arch::KernelPerCpuWindow::cpu_of_offset(arch::percpu_offset());
  const unsigned by_window = percpu::this_cpu();
  if (by_window != by_register)
    panic("TLB sharing: CPU {} sees the window of CPU {}", by_register, by_window);
}

}  // namespace atl
