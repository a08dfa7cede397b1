// Which CPUs the kernel may run on, and their numbers. Pure.
#pragma once

#include <span>

#include "arch-arm64/mpidr.hpp"
#include "kernel/machine.hpp"
#include "lib/format.hpp"

namespace atl {

struct NumberingRules {
  u64 boot_mpidr = 0;  ///< MPIDR_EL1 of the CPU that boots
  bool psci = true;    ///< there is PSCI to start the others
  unsigned most = kMaxCpus;
  /// Of the hardware threads of a core only one: they may share a TLB, and private windows do not bear that.
  bool one_thread_a_core = false;
};

/// Numbers the boot CPU 0, whether or not it is listed, and then, in the order of `cpus`, those that may run beside
/// it. `notes` gets a line for each node that is broken, and one for each other reason to leave CPUs out.
arch::CpuMap number_cpus(std::span<const CpuDescription> cpus, const NumberingRules& rules,
                         FormatSink& notes);

}  // namespace atl
