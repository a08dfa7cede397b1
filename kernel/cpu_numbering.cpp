#include "kernel/cpu_numbering.hpp"

#include <algorithm>

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
  const auto left_out = [&](const CpuDescription& cpu, const char* why) {
    format(notes, "smp: cpu node {:#x} left out: {}\n", cpu.affinity, why);
  };
  unsigned threads = 0;
  for (const CpuDescription& cpu : cpus) {
    if (cpu.affinity != map.affinity(0).value()) {
      if (map.count() >= rules.most) continue;
      if (!cpu.psci) {
        left_out(cpu, "its enable-method is not psci");
        continue;
      }
      if (rules.one_thread_a_core && has_thread_of_core(map, cpu.affinity)) {
        ++threads;
        continue;
      }
    }
    const Result<unsigned> number = map.add(cpu.affinity);
    if (!number) left_out(cpu, to_string(number.error().error));
  }
  if (threads > 0) {
    format(notes, "smp: {} hardware threads left out: they may share a TLB with another of their core\n",
           threads);
  }
  if (!map.boot_cpu_listed()) format(notes, "smp: the device tree does not list the boot CPU\n");
  return map;
}

}  // namespace atl
