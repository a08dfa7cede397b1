#include "mm/boot_allocator.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

constexpr PhysRange range(u64 start, u64 end) { return {PhysAddr(start), end - start}; }
constexpr std::array<u64, 3> kPageSizes{4_KiB, 16_KiB, 64_KiB};

/// 1 GiB … 2 GiB with a hole in the middle and a kernel near the start.
MemoryMap test_map(u64 page_size) {
  MemoryMap map;
  EXPECT_TRUE(map.add_ram(range(1_GiB, 1_GiB + 400_MiB)));
  EXPECT_TRUE(map.add_ram(range(1_GiB + 500_MiB, 2_GiB)));
  map.reserve(range(1_GiB + 2_MiB, 1_GiB + 10_MiB), ReservationKind::kernel);
  EXPECT_TRUE(map.finalize({page_size, 256_GiB, PhysAddr(u64{1} << 48)}));
  return map;
}

TEST(BootAllocator, TakesFromTheBottom) {
  BootAllocator boot(test_map(4_KiB));
  EXPECT_EQ(boot.allocate(4_KiB, 4_KiB), PhysAddr(1_GiB));
  EXPECT_EQ(boot.allocate(64_KiB, 64_KiB), PhysAddr(1_GiB + 64_KiB));
  EXPECT_EQ(boot.allocate(8_KiB, 4_KiB), PhysAddr(1_GiB + 4_KiB)) << "gaps that alignment leaves are used";
  EXPECT_EQ(boot.allocate(2_MiB, 2_MiB), PhysAddr(1_GiB + 10_MiB)) << "the kernel lies in between";
  EXPECT_EQ(boot.taken_bytes(), 2_MiB + 76_KiB);
}

TEST(BootAllocator, PiecesSmallerThanAPageShareIt) {
  BootAllocator boot(test_map(64_KiB));
  // Root triples at 64K/48: 160 CPUs times 1.5 KiB at 512-byte alignment.
  for (int cpu = 0; cpu < 160; ++cpu) ASSERT_TRUE(boot.allocate(1536, 512));
  u64 left = 0;
  boot.hand_over([&](const PhysRange& run) { left += run.size; });
  EXPECT_EQ(test_map(64_KiB).free_bytes() - left, align_up(160 * 1536, 64_KiB));
}

TEST(BootAllocator, StaysInItsWindowUntilItIsWidened) {
  BootAllocator boot(test_map(4_KiB));
  const PhysRange arena = range(1_GiB + 10_MiB, 1_GiB + 10_MiB + 64_KiB);
  boot.set_window(arena);
  for (int i = 0; i < 16; ++i) {
    const auto page = boot.allocate(4_KiB, 4_KiB);
    ASSERT_TRUE(page);
    EXPECT_TRUE(arena.contains(PhysRange{*page, 4_KiB}));
  }
  EXPECT_EQ(boot.allocate(1, 1).error(), Error::no_memory);
  boot.set_window(range(1_GiB, 1_GiB + 400_MiB));
  EXPECT_EQ(boot.allocate(4_KiB, 4_KiB), PhysAddr(1_GiB));
}

TEST(BootAllocator, RefusesNonsenseAndWhatDoesNotFit) {
  BootAllocator boot(test_map(4_KiB));
  EXPECT_EQ(boot.allocate(0, 8).error(), Error::invalid_argument);
  EXPECT_EQ(boot.allocate(8, 0).error(), Error::invalid_argument);
  EXPECT_EQ(boot.allocate(8, 24).error(), Error::invalid_argument);
  EXPECT_EQ(boot.allocate(600_MiB, 4_KiB).error(), Error::no_memory);
  EXPECT_EQ(boot.allocate(4_KiB, 8_GiB).error(), Error::no_memory);
  EXPECT_EQ(boot.taken_bytes(), 0u);
}

TEST(BootAllocator, EndsWithTheHandOver) {
  BootAllocator boot(test_map(4_KiB));
  boot.hand_over([](const PhysRange&) {});
  EXPECT_PANIC(static_cast<void>(boot.allocate(4_KiB, 4_KiB)), "boot allocator used after");
  EXPECT_PANIC(boot.hand_over([](const PhysRange&) {}), "boot allocator used after");
}

TEST(BootAllocator, AFullTableCostsMemoryButNoCorrectness) {
  BootAllocator boot(test_map(4_KiB));
  // Each piece leaves a gap that the next, with its alignment, cannot use.
  std::vector<PhysRange> taken;
  for (int i = 0; i < 400; ++i) {
    const auto piece = boot.allocate(64_KiB, 256_KiB);
    ASSERT_TRUE(piece);
    for (const PhysRange& other : taken) ASSERT_FALSE(other.overlaps({*piece, 64_KiB}));
    taken.push_back({*piece, 64_KiB});
  }
  EXPECT_GT(boot.wasted_bytes(), 0u);
  u64 left = 0;
  boot.hand_over([&](const PhysRange& run) {
    left += run.size;
    for (const PhysRange& piece : taken) ASSERT_FALSE(run.overlaps(piece));
  });
  EXPECT_EQ(left + boot.taken_bytes() + boot.wasted_bytes(), test_map(4_KiB).free_bytes());
}

TEST(BootAllocator, HandsOverExactlyThePagesItDidNotTouch) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    const u64 page = kPageSizes[round % 3];
    const MemoryMap map = test_map(page);
    BootAllocator boot(map);
    RangeSet<1024> untouched;
    map.for_each_free([&](const PhysRange& run) { ASSERT_TRUE(untouched.insert(run)); });
    std::vector<PhysRange> taken;
    for (int i = 0; i < 200; ++i) {
      const u64 align = u64{1} << (3 + random() % 14);
      const u64 size = 1 + random() % (random() % 8 == 0 ? 1_MiB : 8_KiB);
      const auto start = boot.allocate(size, align);
      ASSERT_TRUE(start);
      const PhysRange piece{*start, size};
      ASSERT_TRUE(start->is_aligned(align));
      for (const PhysRange& other : taken) ASSERT_FALSE(other.overlaps(piece));
      taken.push_back(piece);
      const PhysAddr first = piece.start.align_down(page);
      ASSERT_TRUE(untouched.remove({first, piece.end().align_up(page) - first}));
    }
    ASSERT_EQ(boot.wasted_bytes(), 0u);
    std::vector<PhysRange> handed_over;
    boot.hand_over([&](const PhysRange& run) { handed_over.push_back(run); });
    ASSERT_EQ(handed_over, std::vector<PhysRange>(untouched.ranges().begin(), untouched.ranges().end()))
        << "the buddy allocator gets a page that is in use, round " << round;
  }
}

}  // namespace
}  // namespace atl::mm
