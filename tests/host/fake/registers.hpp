// The registers of one fake CPU. Shared by the fakes, not for tests: those use events.hpp.
#pragma once

#include "arch/cpu.hpp"
#include "lib/address.hpp"

namespace atl::arch::fake {

struct Registers {
  u64 percpu_offset = 0;
  void* current = nullptr;
  u64 mpidr = 0;
  bool irqs_masked = false;
  PhysAddr root;
  CpuFeatures features;
};

/// The calling thread's.
Registers& registers();

}  // namespace atl::arch::fake
