#include "kernel/roll_call.hpp"

namespace atl {

const char* to_string(CpuState state) {
  switch (state) {
    case CpuState::off: return "not asked for";
    case CpuState::starting: return "starting";
    case CpuState::arrived: return "waiting for its IPI";
    case CpuState::online: return "online";
    case CpuState::refused: return "refused by firmware";
    case CpuState::no_granule: return "has no such granule";
    case CpuState::lacks_features: return "lacks features of the boot CPU";
    case CpuState::wrong_window: return "its local window shows another CPU's number";
    case CpuState::no_gic_interface: return "has no part in the interrupt controller";
    case CpuState::no_timer: return "has no timer interrupt";
    case CpuState::did_not_start: return "did not start";
    case CpuState::did_not_answer: return "did not answer an IPI";
  }
  return "?";
}

CpuSet RollCall::in(CpuState state) const {
  CpuSet set;
  for (unsigned cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (this->state(cpu) == state) set.add(cpu);
  }
  return set;
}

void RollCall::close(CpuState from, CpuState to) {
  for (unsigned cpu = 0; cpu < kMaxCpus; ++cpu) move(cpu, from, to);
}

}  // namespace atl
