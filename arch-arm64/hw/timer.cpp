// arch/timer.hpp on the machine: the EL1 virtual timer.
#include "arch/timer.hpp"

#include "arch-arm64/counter_rate.hpp"
#include "arch-arm64/hw/sysreg.hpp"
#include "lib/panic.hpp"

namespace atl::arch {
namespace {

/// CNTV_CTL_EL0.
constexpr u64 kEnable = 1 << 0;
constexpr u64 kMask = 1 << 1;

void write_control(u64 control) {
  ATOLL_WRITE_SYSREG("cntv_ctl_el0", control);
  asm volatile("isb" ::: "memory");
}

CounterRate rate() { return CounterRate(timer_frequency()); }

}  // namespace

void timer_init_cpu() {
  timer_cancel();
  if (timer_frequency() == 0) panic("CNTFRQ_EL0 is 0: firmware did not set the timer's rate");
}

// Without the ISB the counter may be read before earlier instructions have run.
u64 timer_ticks() {
  asm volatile("isb" ::: "memory");
  return ATOLL_READ_SYSREG("cntvct_el0");
}

u64 timer_frequency() { return ATOLL_READ_SYSREG("cntfrq_el0") & 0xffff'ffff; }

u64 ticks_to_ns(u64 ticks) { return rate().to_ns(ticks); }
u64 ns_to_ticks(u64 ns) { return rate().to_ticks(ns); }

void timer_set_deadline(u64 deadline) {
  ATOLL_WRITE_SYSREG("cntv_cval_el0", deadline);
  write_control(kEnable);
}

void timer_cancel() { write_control(kMask); }

}  // namespace atl::arch
