// The memory map against a model of one flag for each KiB.
#include "mm/memory_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/host/mm/memory_map_fixture.hpp"

namespace atl::mm {
namespace {

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
    return pages([this](usize i) { return !no_map_[i] || kernel_[i]; });
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

TEST(MemoryMapModel, AgreesWithAnOracleOnRandomMaps) {
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
      map.reserve(Oracle::range_of(first, last), kind);
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
