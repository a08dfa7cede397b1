#include "kernel/cpu_numbering.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/host/support.hpp"

namespace atl {
namespace {

struct Numbered {
  std::vector<u64> mpidrs;
  std::string notes;
};

Numbered number(const std::vector<CpuDescription>& cpus, const NumberingRules& rules) {
  host::StringSink notes;
  const arch::CpuMap map = number_cpus(cpus, rules, notes);
  return {{map.mpidrs().begin(), map.mpidrs().end()}, notes.text()};
}

TEST(CpuNumbering, Case3_BootCpuIsFirstAndTheOthersInTreeOrder) {
  const Numbered all = number({{0x101, true}, {0, true}, {0x100, true}}, {.boot_mpidr = 0x8000'0100});
  EXPECT_EQ(all.mpidrs, (std::vector<u64>{0x100, 0x101, 0}));
  EXPECT_EQ(all.notes, "");
}

TEST(CpuNumbering, MaxcpusNeverCostsTheBootCpuItsPlace) {
  const std::vector<CpuDescription> cpus{{0, true}, {1, true}, {2, true}, {3, true}};
  EXPECT_EQ(number(cpus, {.boot_mpidr = 3, .most = 2}).mpidrs, (std::vector<u64>{3, 0}));
  const Numbered one = number(cpus, {.boot_mpidr = 3, .most = 1});
  EXPECT_EQ(one.mpidrs, std::vector<u64>{3});
  EXPECT_EQ(one.notes, "");
}

TEST(CpuNumbering, CpusThatPsciDoesNotStartAreCounted) {
  const Numbered some = number({{0, false}, {1, false}, {2, true}, {3, false}}, {.boot_mpidr = 0});
  EXPECT_EQ(some.mpidrs, (std::vector<u64>{0, 2})) << "the boot CPU needs no method";
  EXPECT_EQ(some.notes, "smp: 2 of the CPUs listed left out: their enable-method is not psci\n");
}

TEST(CpuNumbering, Case6_WithoutPsciOnlyTheBootCpuIsPossible) {
  const std::vector<CpuDescription> cpus{{0, true}, {1, true}, {2, true}, {3, false}};
  const Numbered one = number(cpus, {.boot_mpidr = 1, .psci = false});
  EXPECT_EQ(one.mpidrs, std::vector<u64>{1}) << "CPUs are counted on that nobody can start";
  EXPECT_EQ(one.notes,
            "smp: 1 of the CPUs listed left out: their enable-method is not psci\n"
            "smp: 2 of the CPUs listed left out: there is no PSCI to start them\n");
  EXPECT_EQ(number(cpus, {.boot_mpidr = 1, .psci = false, .most = 1}).notes, "") << "nobody asked for them";
}

TEST(CpuNumbering, BadNodesAreNamed) {
  const Numbered some = number({{0, true}, {1, true}, {1, true}, {0, true}, {0x8000'0002, true}}, {});
  EXPECT_EQ(some.mpidrs, (std::vector<u64>{0, 1}));
  EXPECT_EQ(some.notes,
            "smp: cpu node 0x1 left out: already exists\n"
            "smp: cpu node 0x0 left out: already exists\n"
            "smp: cpu node 0x80000002 left out: bad firmware data\n");
}

TEST(CpuNumbering, OneThreadOfEachCore) {
  const std::vector<CpuDescription> cpus{{0x000, true}, {0x001, true}, {0x100, true},
                                         {0x101, true}, {0x201, true}, {u64{1} << 32, true}};
  const Numbered all = number(cpus, {.boot_mpidr = 0x101, .one_thread_a_core = true});
  EXPECT_EQ(all.mpidrs, (std::vector<u64>{0x101, 0x000, 0x201, u64{1} << 32}))
      << "the boot CPU is its core's thread, whichever it is";
  EXPECT_EQ(all.notes,
            "smp: 2 of the CPUs listed left out: "
            "hardware threads that may share a TLB with another of their core\n");
  EXPECT_EQ(number(cpus, {.boot_mpidr = 0x101}).mpidrs.size(), cpus.size());
}

TEST(CpuNumbering, AnUnlistedBootCpuIsWorthALine) {
  EXPECT_EQ(number({}, {.boot_mpidr = 5}).notes, "smp: the device tree does not list the boot CPU\n");
}

}  // namespace
}  // namespace atl
