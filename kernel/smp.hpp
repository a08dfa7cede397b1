// Bringing up the other CPUs: all at once, each straight onto its own complete root, none waited for without
// a bound.
#pragma once

#include <optional>

#include "arch-arm64/mpidr.hpp"
#include "kernel/machine.hpp"
#include "lib/cpu_set.hpp"

namespace atl {

/// Uses PSCI from now on if it answers by `conduit`; a line says so, or that it does not. Boot CPU, once.
void open_firmware(arch::PsciConduit conduit);

/// Numbers the CPUs of the machine: the boot CPU is 0, the others follow in device-tree order, at most
/// `maxcpus` in all, and none without PSCI (kernel/cpu_numbering.hpp). From then on `cpu_map` says which CPUs the
/// kernel may ever run on. After `open_firmware`.
void number_cpus(const Machine& machine, std::optional<unsigned> maxcpus);
const arch::CpuMap& cpu_map();

/// CPUs that are up: they read their own number through the window, armed their timer and answered an IPI.
/// The same for ever once `wait_for_secondaries` has returned.
CpuSet online_cpus();

/// How far a possible CPU got, in words.
const char* cpu_state(unsigned cpu);

/// Starts all possible CPUs by PSCI, back to back, and does not wait for them.
/// Boot CPU, IRQs enabled; units, roots and idle stacks exist (`prepare_secondaries`).
void start_secondaries();

/// Waits until each started CPU is online or left out. A CPU is given up when none has moved on for `patience_ns`; it
/// parks itself should it come later. Prints one line for each CPU that is left out, with the reason, and the summary
/// line. Boot CPU, IRQs enabled, once.
void wait_for_secondaries();

/// For a panic: a CPU that has not arrived parks itself when it does. The CPUs that run the kernel, online or not yet,
/// the caller maybe among them. Any context.
CpuSet admit_no_more_cpus();

}  // namespace atl
