#include "arch-arm64/mpidr.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "tests/host/support.hpp"

namespace atl::arch {
namespace {

/// As QEMU `virt` numbers CPUs: 16 to a cluster.
u64 virt_mpidr(unsigned cpu) { return u64{cpu / 16} << 8 | cpu % 16; }

TEST(Mpidr, AffinityDropsFlagsAndReservedBits) {
  const u64 noise = u64{0xffff'ff00} << 32 | u64{0xff} << 24;
  const Affinity affinity = Affinity::of_mpidr(0x12'0034'5678 | noise);
  EXPECT_EQ(affinity.value(), 0x12'0034'5678u);
  EXPECT_EQ(affinity.level(0), 0x78);
  EXPECT_EQ(affinity.level(1), 0x56);
  EXPECT_EQ(affinity.level(2), 0x34);
  EXPECT_EQ(affinity.level(3), 0x12);
}

TEST(Mpidr, Case3_OneCpuReadsBit31AndIsStillAffinityZero) {
  EXPECT_EQ(Affinity::of_mpidr(0x8000'0000), Affinity());
  EXPECT_FALSE(is_multithreaded(0x8000'0000));
  EXPECT_TRUE(is_multithreaded(0x8100'0000));
}

TEST(Mpidr, PackedFormIsTheRedistributors) {
  const Affinity affinity = Affinity::of_mpidr(0x12'0034'5678);
  EXPECT_EQ(affinity.packed(), 0x1234'5678u);
  EXPECT_EQ(Affinity::of_packed(0x1234'5678), affinity);
  EXPECT_EQ(Affinity::of_redistributor(u64{0x1234'5678} << 32 | 0xffff'ffff), affinity);
  EXPECT_NE(Affinity::of_redistributor(u64{0x1234'5679} << 32), affinity);
}

TEST(Mpidr, AffinitiesOrderByAff3First) {
  EXPECT_LT(Affinity::of_packed(0x00ff'ffff), Affinity::of_packed(0x0100'0000));
  EXPECT_LT(Affinity::of_packed(0x0000'00ff), Affinity::of_packed(0x0000'0100));
}

TEST(CpuMap, Case3_NumbersFollowTheTreeAcrossClusters) {
  CpuMap map(0x8000'0000 | virt_mpidr(0));
  for (unsigned cpu = 0; cpu < 160; ++cpu) {
    const Result<unsigned> number = map.add(virt_mpidr(cpu));
    ASSERT_TRUE(number.has_value()) << "cpu " << cpu;
    ASSERT_EQ(*number, cpu) << "logical CPU number is not the device-tree order";
  }
  EXPECT_EQ(map.count(), 160u);
  EXPECT_EQ(map.affinity(159).value(), 0x90fu);
  EXPECT_EQ(map.find(Affinity::of_mpidr(0x90f)), 159u);
  EXPECT_TRUE(map.boot_cpu_listed());
}

TEST(CpuMap, Case3_BootCpuIsZeroWhereverTheTreeListsIt) {
  std::vector<unsigned> order(48);
  for (unsigned i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(3));

  for (unsigned boot : {0u, 17u, 47u}) {
    CpuMap map(0x8000'0000 | virt_mpidr(boot));
    unsigned next = 1;
    for (unsigned cpu : order) {
      const unsigned expected = cpu == boot ? 0 : next++;
      ASSERT_EQ(map.add(virt_mpidr(cpu)), expected) << "boot CPU " << boot << ", tree lists " << cpu;
      ASSERT_EQ(map.affinity(expected).value(), virt_mpidr(cpu));
    }
    EXPECT_EQ(map.count(), order.size());
    EXPECT_EQ(map.mpidrs().size(), order.size());
    EXPECT_EQ(map.find(Affinity::of_mpidr(virt_mpidr(boot))), 0u);
  }
}

TEST(CpuMap, UnlistedBootCpuKeepsNumberZero) {
  CpuMap map(virt_mpidr(5));
  EXPECT_EQ(map.add(virt_mpidr(0)), 1u);
  EXPECT_EQ(map.count(), 2u);
  EXPECT_FALSE(map.boot_cpu_listed());
  EXPECT_EQ(map.affinity(0).value(), virt_mpidr(5));
}

TEST(CpuMap, BadEntriesChangeNothing) {
  CpuMap map(0);
  ASSERT_EQ(map.add(0), 0u);
  ASSERT_EQ(map.add(1), 1u);
  EXPECT_EQ(map.add(0).error(), Error::already_exists);
  EXPECT_EQ(map.add(1).error(), Error::already_exists);
  EXPECT_EQ(map.add(0x8000'0002).error(), Error::bad_firmware_data);
  EXPECT_EQ(map.add(u64{1} << 40).error(), Error::bad_firmware_data);
  EXPECT_EQ(map.count(), 2u);
  EXPECT_EQ(map.find(Affinity::of_mpidr(2)), std::nullopt);
}

TEST(CpuMap, StopsAtTheLimit) {
  CpuMap map(virt_mpidr(0));
  for (unsigned cpu = 1; cpu < kMaxCpus; ++cpu) ASSERT_TRUE(map.add(virt_mpidr(cpu)).has_value());
  EXPECT_EQ(map.add(virt_mpidr(0)), 0u) << "the boot CPU has its place even in a full map";
  EXPECT_EQ(map.add(virt_mpidr(kMaxCpus)).error(), Error::out_of_range);
  EXPECT_EQ(map.count(), kMaxCpus);
}

TEST(Sgi, FieldsOfOneTarget) {
  EXPECT_EQ(SgiRequest(Affinity(), 0).value(), 1u);
  EXPECT_EQ(SgiRequest(Affinity::of_packed(0x0000'000f), 7).value(), 0x0700'8000u);
  EXPECT_EQ(SgiRequest(Affinity::of_packed(0x1200'0003), 1).value(), u64{0x12} << 48 | 0x0100'0008);
  EXPECT_EQ(SgiRequest(Affinity::of_packed(0x0034'0003), 1).value(), u64{0x34} << 32 | 0x0100'0008);
}

TEST(Sgi, RangeSelectorServesAff0Above15) {
  EXPECT_EQ(SgiRequest(Affinity::of_packed(0x10), 2).value(), u64{1} << 44 | 0x0200'0001);
  EXPECT_EQ(SgiRequest(Affinity::of_packed(0xff), 2).value(), u64{15} << 44 | 0x0200'8000);
}

TEST(Sgi, AllOthersIsOneWriteWithoutAList) {
  EXPECT_EQ(SgiRequest::to_all_others(4).value(), u64{1} << 40 | 0x0400'0000);
}

TEST(Sgi, Case2_ClusterIsPartOfTheTarget) {
  EXPECT_EQ(SgiRequest(Affinity::of_mpidr(0x90f), 3).value(), 0x0309'8000u) << "SGI request lost Aff1";
  SgiRequest request(Affinity::of_mpidr(0x000), 3);
  EXPECT_FALSE(request.add(Affinity::of_mpidr(0x100))) << "one SGI write cannot reach two clusters";
}

TEST(Sgi, AddJoinsOnlyWhatOneWriteReaches) {
  SgiRequest request(Affinity::of_mpidr(0x101), 3);
  const u64 before = request.value();
  EXPECT_FALSE(request.add(Affinity::of_packed(0x0000'0111))) << "other range";
  EXPECT_FALSE(request.add(Affinity::of_packed(0x0001'0101))) << "other Aff2";
  EXPECT_FALSE(request.add(Affinity::of_packed(0x0100'0101))) << "other Aff3";
  EXPECT_EQ(request.value(), before);
  EXPECT_TRUE(request.add(Affinity::of_mpidr(0x10f)));
  EXPECT_EQ(request.value(), before | 0x8000);
}

/// Which of `mpidrs` a GIC would interrupt.
CpuSet receivers(const SgiRequest& request, const std::vector<u64>& mpidrs) {
  CpuSet set;
  const u64 v = request.value();
  for (unsigned cpu = 0; cpu < mpidrs.size(); ++cpu) {
    const Affinity a = Affinity::of_mpidr(mpidrs[cpu]);
    const bool cluster = a.level(3) == (v >> 48 & 0xff) && a.level(2) == (v >> 32 & 0xff) &&
                         a.level(1) == (v >> 16 & 0xff) && a.level(0) / 16u == (v >> 44 & 0xf);
    if (cluster && (v >> (a.level(0) % 16) & 1) != 0) set.add(cpu);
  }
  return set;
}

TEST(Sgi, Case2_RequestsReachExactlyTheTargets) {
  std::mt19937 random(2);
  for (unsigned cpus : {1u, 17u, 33u, 160u}) {
    std::vector<u64> mpidrs;
    for (unsigned cpu = 0; cpu < cpus; ++cpu) mpidrs.push_back(virt_mpidr(cpu));
    for (unsigned round = 0; round < 50; ++round) {
      CpuSet targets;
      for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        if (random() % 3 != 0) targets.add(cpu);
      }
      CpuSet reached;
      unsigned receipts = 0;
      unsigned writes = 0;
      for_each_sgi_request(targets, mpidrs, 1, [&](SgiRequest request) {
        ++writes;
        receivers(request, mpidrs).for_each([&](unsigned cpu) {
          reached.add(cpu);
          ++receipts;
        });
      });
      ASSERT_EQ(reached, targets) << cpus << " CPUs: SGI requests reach other CPUs than asked for";
      ASSERT_EQ(receipts, targets.count()) << "a CPU is interrupted twice";
      ASSERT_LE(writes, (cpus + 15) / 16) << "more than one write for a cluster";
    }
  }
}

TEST(Sgi, RequestsAreRightForShuffledNumbers) {
  std::vector<u64> mpidrs;
  for (unsigned cpu = 0; cpu < 40; ++cpu) mpidrs.push_back(virt_mpidr(cpu));
  std::shuffle(mpidrs.begin(), mpidrs.end(), std::mt19937(1));
  CpuSet reached;
  for_each_sgi_request(CpuSet::first(40), mpidrs, 1, [&](SgiRequest request) {
    receivers(request, mpidrs).for_each([&](unsigned cpu) { reached.add(cpu); });
  });
  EXPECT_EQ(reached, CpuSet::first(40));
}

}  // namespace
}  // namespace atl::arch
