#include "mm/memory_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "mm/layout.hpp"
#include "tests/host/mm/memory_map_fixture.hpp"
#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

TEST(MemoryMap, Case9_SixtyFourBanksInAnyOrderGiveTheExactTotal) {
  // Banks 3n and 3n + 1 touch, 3n + 1 and 3n + 2 overlap, then there is a gap; and empty ones.
  std::vector<PhysRange> banks;
  for (u64 bank = 0; bank < 64; ++bank) {
    const u64 start = 1_GiB + bank * 1_MiB;
    banks.push_back({PhysAddr(start), bank % 3 == 0 ? 1_MiB : bank % 3 == 1 ? 1_MiB + 64_KiB : 512_KiB});
    banks.push_back({PhysAddr(start), 0});
  }
  std::ranges::reverse(banks);  // as QEMU lists them with -numa
  std::mt19937 random(5);
  for (int order = 0; order < 20; ++order) {
    MemoryMap map;
    for (const PhysRange& bank : banks) ASSERT_TRUE(map.add_ram(bank));
    ASSERT_TRUE(map.finalize(rules(4_KiB)));
    // 21 runs of 2.5 MiB; bank 63 stands alone.
    ASSERT_EQ(map.ram_bytes(), 21 * 2560_KiB + 1_MiB)
        << "banks that overlap or touch were not joined: 64 banks have a wrong total";
    ASSERT_EQ(map.ram().size(), 22u);
    EXPECT_EQ(map.ram()[0], range(1_GiB, 1_GiB + 2560_KiB));
    EXPECT_TRUE(std::ranges::is_sorted(map.ram(), {}, &PhysRange::start));
    EXPECT_EQ(map.left_out().trimmed, 0u);
    std::ranges::shuffle(banks, random);
  }
}

TEST(MemoryMap, Case9_SeparateBanksFillTheTableAndTheNextIsRefused) {
  MemoryMap map;
  for (u64 bank = 0; bank < MemoryMap::kMaxBanks; ++bank) {
    ASSERT_TRUE(map.add_ram(range(bank * 2_MiB, bank * 2_MiB + 1_MiB)));
  }
  EXPECT_EQ(map.add_ram(range(8_GiB, 9_GiB)).error(), Error::no_memory);
  ASSERT_TRUE(map.add_ram(range(1_MiB, 2_MiB))) << "a bank that joins others needs no entry";
  ASSERT_TRUE(map.finalize(rules(64_KiB)));
  EXPECT_EQ(map.ram_bytes(), MemoryMap::kMaxBanks * 1_MiB + 1_MiB);
}

TEST(MemoryMap, BanksThatCannotBeRightAreRefused) {
  MemoryMap map;
  EXPECT_EQ(map.add_ram({PhysAddr(~u64{0} - 1), 1}).error(), Error::out_of_range);
  EXPECT_EQ(map.add_ram({kPhysicalEnd, 8192}).error(), Error::out_of_range);
  EXPECT_EQ(map.finalize(rules(4_KiB)).error(), Error::not_found) << "no RAM at all is an error";
}

TEST(MemoryMap, ABankOfNearlyEverythingIsClipped) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram({PhysAddr(1_GiB), ~u64{0} - 1_GiB})) << "a vast bank was dropped";
  map.limit(2_GiB);
  ASSERT_TRUE(map.finalize(rules(64_KiB)));
  EXPECT_EQ(ram_of(map), std::vector{range(1_GiB, 3_GiB)});
  MemoryMap whole;
  ASSERT_TRUE(whole.add_ram({PhysAddr(1_GiB), ~u64{0} - 1_GiB}));
  ASSERT_TRUE(whole.finalize(rules(64_KiB)));
  EXPECT_EQ(ram_of(whole), std::vector{range(1_GiB, 257_GiB)}) << "as much as the linear map holds";
}

TEST(MemoryMap, ABankThatIsNotThereIsLeftOut) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  ASSERT_TRUE(map.add_ram(range(3_GiB, 4_GiB)));
  ASSERT_TRUE(map.finalize(rules(4_KiB)));
  map.leave_out(map.ram()[0]);
  EXPECT_EQ(ram_of(map), std::vector{range(3_GiB, 4_GiB)});
  map.leave_out(range(3_GiB + 4_KiB, 4_GiB));
  EXPECT_EQ(ram_of(map), std::vector{range(3_GiB, 3_GiB + 4_KiB)});
  EXPECT_EQ(map.left_out().absent, 2_GiB - 4_KiB);
}

TEST(MemoryMap, Case10_OddSizesAreTrimmedInward) {
  // What QEMU's `-m 1048580K` reports, with an end off the 64K granule.
  for (const u64 page : kPageSizes) {
    MemoryMap map;
    ASSERT_TRUE(map.add_ram(range(0x40002000, 0x80001800)));
    ASSERT_TRUE(map.finalize(rules(page)));
    const PhysRange expected = range(align_up(0x40002000, page), align_down(0x80001800, page));
    EXPECT_EQ(ram_of(map), std::vector{expected})
        << "the tail of a bank is used: RAM is not trimmed inward at " << page;
    EXPECT_EQ(map.left_out().trimmed, 0x40000000 - 0x800 - expected.size);
  }
}

TEST(MemoryMap, Case10_APageThatTwoBanksShareIsKept) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(0x40008000, 0x40040000)));
  ASSERT_TRUE(map.add_ram(range(0x40000000, 0x40008000)));
  ASSERT_TRUE(map.finalize(rules(64_KiB)));
  EXPECT_EQ(ram_of(map), std::vector{range(0x40000000, 0x40040000)});
}

TEST(MemoryMap, Case10_ABankOfLessThanAPageIsNoRam) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(0x40001000, 0x4000f000)));
  EXPECT_EQ(map.finalize(rules(64_KiB)).error(), Error::not_found);
}

TEST(MemoryMap, Case10_LimitCutsInMidPageAndCountsAcrossBanks) {
  for (const u64 page : kPageSizes) {
    MemoryMap map;
    ASSERT_TRUE(map.add_ram(range(2_GiB, 3_GiB)));
    ASSERT_TRUE(map.add_ram(range(1_GiB, 1_GiB + 64_MiB)));
    map.limit(64_MiB + 1_MiB + 2_KiB);
    ASSERT_TRUE(map.finalize(rules(page)));
    EXPECT_EQ(ram_of(map), (std::vector{range(1_GiB, 1_GiB + 64_MiB), range(2_GiB, 2_GiB + 1_MiB)}));
    EXPECT_EQ(map.left_out().trimmed, 2_KiB);
    EXPECT_EQ(map.left_out().by_limit, 1_GiB - 1_MiB - 2_KiB);
  }
}

TEST(MemoryMap, LimitLeavesWhatTheLoaderPlaced) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  map.reserve(range(1536_MiB + 100, 1600_MiB), ReservationKind::kernel);
  map.reserve(range(1700_MiB, 1701_MiB), ReservationKind::firmware);
  map.limit(32_MiB);
  ASSERT_TRUE(map.finalize(rules(4_KiB)));
  EXPECT_EQ(mappable_of(map), (std::vector{range(1_GiB, 1_GiB + 32_MiB), range(1536_MiB, 1600_MiB)}));
  EXPECT_EQ(free_of(map), std::vector{range(1_GiB, 1_GiB + 32_MiB)});
}

TEST(MemoryMap, LimitZeroIsAnErrorAndAHugeOneChangesNothing) {
  MemoryMap none;
  ASSERT_TRUE(none.add_ram(range(1_GiB, 2_GiB)));
  none.limit(0);
  EXPECT_EQ(none.finalize(rules(4_KiB)).error(), Error::not_found);
  MemoryMap all;
  ASSERT_TRUE(all.add_ram(range(1_GiB, 2_GiB)));
  all.limit(~u64{0});
  ASSERT_TRUE(all.finalize(rules(4_KiB)));
  EXPECT_EQ(all.ram_bytes(), 1_GiB);
}

TEST(MemoryMap, Case12_ReservationsAreRoundedOutward) {
  for (const u64 page : kPageSizes) {
    MemoryMap map;
    ASSERT_TRUE(map.add_ram(range(0x40000000, 0x48000000)));
    map.reserve(range(0x42000000, 0x42001800), ReservationKind::firmware);
    map.reserve(range(0x43000800, 0x43000900), ReservationKind::device_tree);
    ASSERT_TRUE(map.finalize(rules(page)));
    const std::vector<PhysRange> expected{range(0x40000000, 0x42000000),
                                          range(align_up(0x42001800, page), 0x43000000),
                                          range(0x43000000 + page, 0x48000000)};
    EXPECT_EQ(free_of(map), expected) << "a partly reserved page is free at page size " << page;
    EXPECT_EQ(map.mappable_bytes(), 128_MiB);
  }
}

TEST(MemoryMap, Case12_NoMapIsNeitherMappableNorFree) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  // Overlapping kinds, a range within another, one outside RAM, and one over the end of RAM.
  map.reserve(range(1_GiB + 8_MiB, 1_GiB + 16_MiB), ReservationKind::reserved, "pool");
  map.reserve(range(1_GiB + 10_MiB, 1_GiB + 11_MiB + 1), ReservationKind::no_map, "secure");
  map.reserve(range(1_GiB + 15_MiB, 1_GiB + 20_MiB), ReservationKind::initrd);
  map.reserve(range(128_MiB, 129_MiB), ReservationKind::no_map);
  map.reserve(range(2_GiB - 1_MiB, 3_GiB), ReservationKind::no_map);
  ASSERT_TRUE(map.finalize(rules(64_KiB)));
  EXPECT_EQ(mappable_of(map),
            (std::vector{range(1_GiB, 1_GiB + 10_MiB), range(1_GiB + 11_MiB + 64_KiB, 2_GiB - 1_MiB)}));
  EXPECT_EQ(free_of(map), (std::vector{range(1_GiB, 1_GiB + 8_MiB), range(1_GiB + 20_MiB, 2_GiB - 1_MiB)}));
  EXPECT_EQ(map.free_bytes(), 1_GiB - 13_MiB);
  EXPECT_EQ(map.ram_bytes(), 1_GiB);
}

TEST(MemoryMap, Case12_NoMapOverTheKernelIsOnlyReserved) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  map.reserve(range(1_GiB + 2_MiB, 1_GiB + 3_MiB), ReservationKind::kernel);
  map.reserve(range(1_GiB, 1_GiB + 2_MiB + 1), ReservationKind::no_map, "over");
  map.reserve(range(1_GiB + 8_MiB, 1_GiB + 9_MiB), ReservationKind::no_map, "beside");
  ASSERT_TRUE(map.finalize(rules(64_KiB)));
  EXPECT_TRUE(map.is_mappable(range(1_GiB + 2_MiB, 1_GiB + 3_MiB))) << "no-map took the kernel's own memory";
  EXPECT_EQ(mappable_of(map), (std::vector{range(1_GiB + 2_MiB, 1_GiB + 8_MiB), range(1_GiB + 9_MiB, 2_GiB)}))
      << "no-map beside the kernel is mapped";
  EXPECT_FALSE(map.is_mappable(range(1_GiB + 7_MiB, 1_GiB + 8_MiB + 1)));
  EXPECT_EQ(free_of(map).front(), range(1_GiB + 3_MiB, 1_GiB + 8_MiB));
}

TEST(MemoryMap, Case12_ReservationsThatDoNotFitAreJoinedWithANeighbour) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    MemoryMap map;
    ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
    const PhysRange kernel = range(1_GiB + 512_MiB, 1_GiB + 514_MiB);
    const PhysRange initrd = range(1_GiB + 700_MiB, 1_GiB + 710_MiB);
    map.reserve(kernel, ReservationKind::kernel);
    map.reserve(initrd, ReservationKind::initrd);
    std::vector<PhysRange> asked;
    std::vector<PhysRange> unmapped;
    for (int i = 0; i < 2000; ++i) {
      const u64 start = 1_GiB + random() % 1_GiB;
      asked.push_back(range(start, std::min(start + 1 + random() % 64_KiB, 2_GiB)));
      if (asked.back().overlaps(kernel) || asked.back().overlaps(initrd)) {
        asked.pop_back();
        continue;
      }
      const bool no_map = random() % 8 == 0;
      map.reserve(asked.back(), no_map ? ReservationKind::no_map : ReservationKind::firmware);
      if (no_map) unmapped.push_back(asked.back());
    }
    EXPECT_EQ(map.joined_reservations(), asked.size() + 2 - MemoryMap::kMaxReservations);
    ASSERT_TRUE(map.finalize(rules(4_KiB)));
    EXPECT_EQ(map.reservations().size(), MemoryMap::kMaxReservations);
    EXPECT_TRUE(
        std::ranges::is_sorted(map.reservations(), {}, [](const Reservation& r) { return r.range.start; }));
    for (const PhysRange& free : free_of(map)) {
      for (const PhysRange& r : asked) ASSERT_FALSE(free.overlaps(r)) << "reserved memory is free";
    }
    for (const PhysRange& mapped : mappable_of(map)) {
      for (const PhysRange& r : unmapped) ASSERT_FALSE(mapped.overlaps(r)) << "no-map memory is mapped";
    }
    EXPECT_TRUE(map.is_mappable(kernel));
    EXPECT_TRUE(map.is_mappable(initrd));
  }
}

/// A full table whose closest pair is a reservation within the initrd and a no-map behind it.
TEST(MemoryMap, Case12_NoJoinHidesWhatTheLoaderPlaced) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  const PhysRange initrd = range(1_GiB + 8_MiB, 1_GiB + 9_MiB);
  map.reserve(initrd, ReservationKind::initrd);
  map.reserve(range(1_GiB + 9_MiB - 8_KiB, 1_GiB + 9_MiB - 4_KiB), ReservationKind::firmware);
  map.reserve(range(1_GiB + 9_MiB, 1_GiB + 9_MiB + 4_KiB), ReservationKind::no_map);
  for (u64 i = 3; i < MemoryMap::kMaxReservations + 1; ++i) {
    const PhysAddr start{1_GiB + 16_MiB + i * 1_MiB};
    map.reserve({start, 4_KiB}, i % 2 == 0 ? ReservationKind::no_map : ReservationKind::firmware);
  }
  EXPECT_EQ(map.joined_reservations(), 1u);
  ASSERT_TRUE(map.finalize(rules(4_KiB)));
  EXPECT_TRUE(map.is_mappable(initrd)) << "a join took the initrd out of the linear map";
}

TEST(MemoryMap, Case12_WhereEachJoinHidesTheKernelItStaysMapped) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  const PhysRange kernel = range(1_GiB + 512_MiB, 1_GiB + 514_MiB);
  map.reserve(kernel, ReservationKind::kernel);
  for (u64 i = 0; i < 2 * MemoryMap::kMaxReservations; ++i) {
    map.reserve(range(1_GiB + i * 4_KiB, 1_GiB + 513_MiB), ReservationKind::no_map);
  }
  ASSERT_TRUE(map.finalize(rules(64_KiB)));
  EXPECT_EQ(mappable_of(map), std::vector{range(1_GiB + 512_MiB, 2_GiB)});
}

TEST(MemoryMap, AReservationBeyondThePhysicalEndIsCutOff) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  map.reserve({PhysAddr(1536_MiB), ~u64{0}}, ReservationKind::firmware);
  map.reserve({PhysAddr(~u64{0} - 10), 5}, ReservationKind::firmware);
  ASSERT_TRUE(map.finalize(rules(64_KiB)));
  EXPECT_EQ(free_of(map), std::vector{range(1_GiB, 1536_MiB)});
  EXPECT_EQ(map.reservations().size(), 1u);
}

TEST(MemoryMap, ReservationsKeepKindAndName) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  map.reserve(range(1_GiB + 8_MiB, 1_GiB + 9_MiB), ReservationKind::no_map, "a-name-that-does-not-fit-in-23");
  map.reserve(range(1_GiB, 1_GiB + 1_MiB), ReservationKind::kernel, "kernel");
  ASSERT_TRUE(map.finalize(rules(4_KiB)));
  EXPECT_EQ(map.reservations()[0].name(), "kernel");
  EXPECT_EQ(map.reservations()[1].name(), "a-name-that-does-not-fi");
  EXPECT_STREQ(to_string(map.reservations()[1].kind), "no-map");
}

TEST(MemoryMap, LinearBaseIsAlignedAndHighRamIsLeftOut) {
  using L = Layout<arch::Geometry<arch::Granule::k16K, 36>>;
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB + 512_MiB, 4_GiB)));
  ASSERT_TRUE(map.add_ram(range(40_GiB, 48_GiB)));
  ASSERT_TRUE(map.add_ram(range(30_GiB, 34_GiB)));
  ASSERT_TRUE(map.finalize(MapRules::of<L>(k48Bits)));
  EXPECT_EQ(map.linear_base(), PhysAddr(1_GiB));
  EXPECT_EQ(ram_of(map), (std::vector{range(1_GiB + 512_MiB, 4_GiB), range(30_GiB, 33_GiB)}));
  EXPECT_EQ(map.left_out().unreachable, 9_GiB);
}

TEST(MemoryMap, LinearMapAlwaysCoversTheKernel) {
  using L = Layout<arch::Geometry<arch::Granule::k16K, 36>>;
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 4_GiB)));
  ASSERT_TRUE(map.add_ram(range(40_GiB, 48_GiB)));
  map.reserve(range(44_GiB + 2_MiB, 44_GiB + 20_MiB), ReservationKind::kernel);
  ASSERT_TRUE(map.finalize(MapRules::of<L>(k48Bits)));
  EXPECT_EQ(map.linear_base(), PhysAddr(13_GiB));
  EXPECT_EQ(ram_of(map), (std::vector{range(40_GiB, 45_GiB)}));
}

TEST(MemoryMap, RamBeyondThePhysicalAddressSizeIsLeftOut) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  ASSERT_TRUE(map.add_ram(range(1_TiB - 1_GiB, 1_TiB + 1_GiB)));
  ASSERT_TRUE(map.finalize({4_KiB, 128_TiB, PhysAddr(1_TiB)}));
  EXPECT_EQ(ram_of(map), (std::vector{range(1_GiB, 2_GiB), range(1_TiB - 1_GiB, 1_TiB)}));
  EXPECT_EQ(map.left_out().unreachable, 1_GiB);
}

TEST(MemoryMap, NothingIsAddedAfterFinalize) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  ASSERT_TRUE(map.finalize(rules(4_KiB)));
  EXPECT_PANIC(static_cast<void>(map.add_ram(range(3_GiB, 4_GiB))), "finalized_");
  EXPECT_PANIC(map.reserve(range(1_GiB, 1_GiB + 1), ReservationKind::kernel), "finalized_");
}

}  // namespace
}  // namespace atl::mm
