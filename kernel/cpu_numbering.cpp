#include "kernel/cpu_numbering.hpp"

#include <algorithm>

#include "lib/fault.hpp"

namespace atl {
namespace {

/// With MPIDR_EL1.MT set, Aff0 numbers the threads of what the other levels name.
bool share_a_core(u64 a, u64 b) { return a >> 8 == b >> 8; }

bool has_thread_of_core(const arch::CpuMap& map, u64 affinity) {
  return std::ranges::any_of(map.mpidrs(), [&](u64 other) { return share_a_core(other, affinity); });
}

}  // namespace

arch::CpuMap number_cpus(std::span<const CpuDescription> cpus, const NumberingRules& rules,
                         FormatSink& notes) {
  arch::CpuMap map(rules.boot_mpidr);
  unsigned foreign = 0;
  unsigned unreachable = 0;
  unsigned threads = 0;
  for (const CpuDescription& cpu : cpus) {
    if (cpu.affinity != map.affinity(0).value()) {
      if (map.count() >= rules.most) continue;
      if (!cpu.psci) {
        ++foreign;
        continue;
      }
      if (!rules.psci && kFault != Fault::cpus_without_firmware) {
        ++unreachable;
        continue;
      }
      if (rules.one_thread_a_core && has_thread_of_core(map, cpu.affinity)) {
        ++threads;
        continue;
      }
    }
    if (const Result<unsigned> number = map.add(cpu.affinity); !number) {
      format(notes, "smp: cpu node {:#x} left out: {}\n", cpu.affinity, to_string(number.error().error));
    }
  }
  const auto left_out = [&](unsigned count, const char* why) {
    if (count > 0) format(notes, "smp: {} of the CPUs listed left out: {}\n", count, why);
  };
  left_out(foreign, "their enable-method is not psci");
  left_out(unreachable, "there is no PSCI to start them");
  left_out(threads, "hardware threads that may share a TLB with another of their core");
  if (!map.boot_cpu_listed()) format(notes, "smp: the device tree does not list the boot CPU\n");
  return map;
}

}  // namespace atl
