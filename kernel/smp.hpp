// Bringing up the other CPUs: all at once, each straight onto its own complete root, none waited for without
// a bound.
#pragma once

#include <optional>

#include "arch-arm64/mpidr.hpp"
#include "kernel/machine.hpp"
#include "lib/cpu_set.hpp"
#include "lib/result.hpp"

namespace atl {

/// Numbers the CPUs of the machine: the boot CPU is 0, the others follow in device-tree order, at most
/// `maxcpus` in all. From then on `cpu_map` says which CPUs the kernel may ever run on.
void number_cpus(const Machine& machine, std::optional<unsigned> maxcpus);
const arch::CpuMap& cpu_map();

/// CPUs that are up: they read their own number through the window, armed their timer and answered an IPI.
const CpuSet& online_cpus();

/// How far a possible CPU got, in words.
const char* cpu_state(unsigned cpu);

/// Starts all possible CPUs by PSCI, back to back, and waits until each is online or the deadline passes.
/// Prints one line for each CPU that is left out, with the reason, and the summary line.
/// Boot CPU, IRQs enabled; units, roots and idle stacks exist (`prepare_secondaries`).
void start_secondaries();

}  // namespace atl
