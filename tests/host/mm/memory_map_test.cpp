#include "mm/memory_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "mm/layout.hpp"
#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

constexpr PhysRange range(u64 start, u64 end) { return {PhysAddr(start), end - start}; }
constexpr PhysAddr k48Bits = PhysAddr(u64{1} << 48);

MapRules rules(u64 page_size) { return {page_size, 256_GiB, k48Bits}; }

std::vector<PhysRange> ram_of(const MemoryMap& map) { return {map.ram().begin(), map.ram().end()}; }
std::vector<PhysRange> mappable_of(const MemoryMap& map) {
  std::vector<PhysRange> found;
  map.for_each_mappable([&](const PhysRange& r) { found.push_back(r); });
  return found;
}
std::vector<PhysRange> free_of(const MemoryMap& map) {
  std::vector<PhysRange> found;
  map.for_each_free([&](const PhysRange& r) { found.push_back(r); });
  return found;
}

constexpr std::array<u64, 3> kPageSizes{4_KiB, 16_KiB, 64_KiB};

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
  EXPECT_EQ(map.add_ram({PhysAddr(1_GiB), ~u64{0}}).error(), Error::out_of_range);
  EXPECT_EQ(map.add_ram({PhysAddr(~u64{0}), 1}).error(), Error::out_of_range);
  EXPECT_EQ(map.add_ram({kPhysicalEnd - 4096, 8192}).error(), Error::out_of_range);
  EXPECT_EQ(map.finalize(rules(4_KiB)).error(), Error::not_found) << "no RAM at all is an error";
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
  ASSERT_TRUE(map.reserve(range(1536_MiB + 100, 1600_MiB), ReservationKind::kernel));
  ASSERT_TRUE(map.reserve(range(1700_MiB, 1701_MiB), ReservationKind::firmware));
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
    ASSERT_TRUE(map.reserve(range(0x42000000, 0x42001800), ReservationKind::firmware));
    ASSERT_TRUE(map.reserve(range(0x43000800, 0x43000900), ReservationKind::device_tree));
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
  ASSERT_TRUE(map.reserve(range(1_GiB + 8_MiB, 1_GiB + 16_MiB), ReservationKind::reserved, "pool"));
  ASSERT_TRUE(map.reserve(range(1_GiB + 10_MiB, 1_GiB + 11_MiB + 1), ReservationKind::no_map, "secure"));
  ASSERT_TRUE(map.reserve(range(1_GiB + 15_MiB, 1_GiB + 20_MiB), ReservationKind::initrd));
  ASSERT_TRUE(map.reserve(range(128_MiB, 129_MiB), ReservationKind::no_map));
  ASSERT_TRUE(map.reserve(range(2_GiB - 1_MiB, 3_GiB), ReservationKind::no_map));
  ASSERT_TRUE(map.finalize(rules(64_KiB)));
  EXPECT_EQ(mappable_of(map),
            (std::vector{range(1_GiB, 1_GiB + 10_MiB), range(1_GiB + 11_MiB + 64_KiB, 2_GiB - 1_MiB)}));
  EXPECT_EQ(free_of(map), (std::vector{range(1_GiB, 1_GiB + 8_MiB), range(1_GiB + 20_MiB, 2_GiB - 1_MiB)}));
  EXPECT_EQ(map.free_bytes(), 1_GiB - 13_MiB);
  EXPECT_EQ(map.ram_bytes(), 1_GiB);
}

TEST(MemoryMap, Case12_AReservationThatDoesNotFitStopsTheBoot) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  for (u64 i = 0; i < MemoryMap::kMaxReservations; ++i) {
    ASSERT_TRUE(map.reserve(range(1_GiB + i * 8192, 1_GiB + i * 8192 + 4096), ReservationKind::firmware));
  }
  EXPECT_EQ(map.reserve(range(1536_MiB, 1537_MiB), ReservationKind::no_map).error(), Error::no_memory);
  EXPECT_EQ(map.finalize(rules(4_KiB)).error(), Error::no_memory);
}

TEST(MemoryMap, AReservationBeyondThePhysicalEndIsCutOff) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  ASSERT_TRUE(map.reserve({PhysAddr(1536_MiB), ~u64{0}}, ReservationKind::firmware));
  ASSERT_TRUE(map.reserve({PhysAddr(~u64{0} - 10), 5}, ReservationKind::firmware));
  ASSERT_TRUE(map.finalize(rules(64_KiB)));
  EXPECT_EQ(free_of(map), std::vector{range(1_GiB, 1536_MiB)});
  EXPECT_EQ(map.reservations().size(), 1u);
}

TEST(MemoryMap, ReservationsKeepKindAndName) {
  MemoryMap map;
  ASSERT_TRUE(map.add_ram(range(1_GiB, 2_GiB)));
  ASSERT_TRUE(map.reserve(range(1_GiB + 8_MiB, 1_GiB + 9_MiB), ReservationKind::no_map,
                          "a-name-that-does-not-fit-in-23"));
  ASSERT_TRUE(map.reserve(range(1_GiB, 1_GiB + 1_MiB), ReservationKind::kernel, "kernel"));
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
  ASSERT_TRUE(map.reserve(range(44_GiB + 2_MiB, 44_GiB + 20_MiB), ReservationKind::kernel));
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
  EXPECT_PANIC(static_cast<void>(map.reserve(range(1_GiB, 1_GiB + 1), ReservationKind::kernel)),
               "finalized_");
}

/// RAM and reservations as one flag for each KiB, from which every answer is counted out.
class Oracle {
 public:
  static constexpr usize kUnits = 2048;
  static constexpr u64 kUnit = 1_KiB;
  static constexpr u64 kStart = 1_GiB;

  explicit Oracle(u64 page_size) : page_units_(page_size / kUnit) {}
  static PhysRange range_of(usize first, usize last) {
    return range(kStart + first * kUnit, kStart + last * kUnit);
  }

  void add_ram(usize first, usize last) { std::fill(ram_.begin() + first, ram_.begin() + last, true); }
  void reserve(usize first, usize last, ReservationKind kind) {
    if (first == last) return;
    first = align_down(first, page_units_);
    last = align_up(last, page_units_);
    std::fill(reserved_.begin() + first, reserved_.begin() + last, true);
    if (kind == ReservationKind::no_map) std::fill(no_map_.begin() + first, no_map_.begin() + last, true);
    if (kind == ReservationKind::kernel) std::fill(kernel_.begin() + first, kernel_.begin() + last, true);
  }
  void limit(usize units) {
    for (usize i = 0; i < kUnits; ++i) {
      if (!ram_[i]) continue;
      if (units > 0) {
        --units;
      } else if (!kernel_[i]) {
        ram_[i] = false;
      }
    }
  }
  std::vector<bool> ram() const {
    return pages([](usize) { return true; });
  }
  std::vector<bool> mappable() const {
    return pages([this](usize i) { return !no_map_[i]; });
  }
  std::vector<bool> free() const {
    return pages([this](usize i) { return !reserved_[i]; });
  }

  /// Units of `ranges`, which must ascend without touching.
  static std::vector<bool> marked(const std::vector<PhysRange>& ranges) {
    std::vector<bool> units(kUnits);
    u64 previous_end = 0;
    for (const PhysRange& r : ranges) {
      EXPECT_GT(r.start.value(), previous_end);
      previous_end = r.end().value();
      const usize first = (r.start.value() - kStart) / kUnit;
      std::fill_n(units.begin() + first, r.size / kUnit, true);
    }
    return units;
  }

 private:
  /// The units of pages that are RAM, and satisfy `also`, in all their units.
  template <class Also>
  std::vector<bool> pages(Also also) const {
    std::vector<bool> result(kUnits);
    for (usize page = 0; page < kUnits; page += page_units_) {
      bool whole = true;
      for (usize i = page; i < page + page_units_; ++i) whole = whole && ram_[i] && also(i);
      std::fill_n(result.begin() + page, page_units_, whole);
    }
    return result;
  }

  usize page_units_;
  std::vector<bool> ram_ = std::vector<bool>(kUnits);
  std::vector<bool> reserved_ = std::vector<bool>(kUnits);
  std::vector<bool> no_map_ = std::vector<bool>(kUnits);
  std::vector<bool> kernel_ = std::vector<bool>(kUnits);
};

TEST(MemoryMap, AgreesWithAnOracleOnRandomMaps) {
  constexpr std::array kKinds{ReservationKind::kernel, ReservationKind::firmware, ReservationKind::reserved,
                              ReservationKind::no_map};
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round) {
    const u64 page = kPageSizes[round % 3];
    MemoryMap map;
    Oracle oracle(page);
    const auto pick = [&](usize longest) {
      const usize first = random() % Oracle::kUnits;
      return std::pair(first, std::min<usize>(first + random() % longest, Oracle::kUnits));
    };
    for (unsigned i = 1 + random() % 30; i > 0; --i) {
      const auto [first, last] = pick(300);
      ASSERT_TRUE(map.add_ram(Oracle::range_of(first, last)));
      oracle.add_ram(first, last);
    }
    for (unsigned i = random() % 20; i > 0; --i) {
      const auto [first, last] = pick(80);
      const ReservationKind kind = kKinds[random() % kKinds.size()];
      ASSERT_TRUE(map.reserve(Oracle::range_of(first, last), kind));
      oracle.reserve(first, last, kind);
    }
    if (random() % 3 == 0) {
      const usize units = random() % Oracle::kUnits;
      map.limit(units * Oracle::kUnit);
      oracle.limit(units);
    }
    const auto finalized = map.finalize(rules(page));
    ASSERT_EQ(finalized.has_value(), std::ranges::count(oracle.ram(), true) > 0) << "round " << round;
    if (!finalized) continue;
    ASSERT_EQ(Oracle::marked(ram_of(map)), oracle.ram()) << "round " << round;
    ASSERT_EQ(Oracle::marked(mappable_of(map)), oracle.mappable()) << "round " << round;
    ASSERT_EQ(Oracle::marked(free_of(map)), oracle.free()) << "round " << round;
  }
}

}  // namespace
}  // namespace atl::mm
