#include "mm/physical_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "mm/linear_map.hpp"
#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

constexpr u64 kPage = arch::kPageSize;
constexpr PhysRange kRam{PhysAddr(1_GiB), 8_MiB};
constexpr PhysRange kKernel{PhysAddr(1_GiB + 3_MiB), 1_MiB};
constexpr PhysRange kArena{PhysAddr(1_GiB + 1_MiB), 4 * kPage};

/// There is one physical memory, and it goes through its stages once. So the first stage runs before the first
/// test, which looks at what was seen there; all tests find the second stage.
struct PhysicalMemory : ::testing::Test {
  struct FirstStage {
    MemoryCounts counts;
    std::vector<Result<PhysAddr>> in_arena;
    Result<PhysAddr> beyond_arena;
    Result<PhysAddr> widened;
    Result<PhysAddr> zeroed;
    bool is_zero;
  };

  static void SetUpTestSuite() {
    ram = std::make_unique<std::byte[]>(kRam.size);
    std::memset(ram.get(), 0xaa, kRam.size);
    // The linear map, modulo 2^64, leads to the host's memory.
    linear_map_init(PhysAddr((KernelLayout::kLinear.start - address_of(ram.get())) + kRam.start.value()));
    pages.resize(kRam.size / kPage);

    ASSERT_TRUE(memory_map().add_ram(kRam));
    memory_map().reserve(kKernel, ReservationKind::kernel);
    ASSERT_TRUE(memory_map().finalize(MapRules::of<KernelLayout>(PhysAddr(u64{1} << 48))));
    start_boot_allocator(kArena);
    first.counts = memory_counts();
    for (int i = 0; i < 4; ++i) first.in_arena.push_back(allocate_at_boot(kPage, kPage));
    first.beyond_arena = allocate_at_boot(kPage, kPage);
    widen_boot_allocator();
    first.widened = allocate_at_boot(kPage, kPage);
    first.zeroed = allocate_zeroed(3 * kPage);
    first.is_zero = first.zeroed && is_zero(*first.zeroed, 3 * kPage);
    free_pages(*first.widened, 0);  // as a mapping that fails does: lost, and no panic
    start_buddy_allocator({pages.data(), kRam.start, pages.size()});
  }
  static void TearDownTestSuite() { linear_map_init(PhysAddr()); }

  static bool is_zero(PhysAddr start, u64 bytes) {
    const auto* memory = pointer_to<const std::byte>(phys_to_virt(start));
    return std::all_of(memory, memory + bytes, [](std::byte b) { return b == std::byte{0}; });
  }

  static inline std::unique_ptr<std::byte[]> ram;
  static inline std::vector<Page> pages;
  static inline FirstStage first;
};

TEST_F(PhysicalMemory, FirstStageStaysInTheArenaUntilItIsWidened) {
  for (const Result<PhysAddr>& page : first.in_arena) {
    ASSERT_TRUE(page);
    EXPECT_TRUE(kArena.contains(PhysRange{*page, kPage}));
  }
  EXPECT_EQ(first.beyond_arena.error(), Error::no_memory);
  EXPECT_EQ(first.widened, kRam.start);
}

TEST_F(PhysicalMemory, FirstStageZeroes) {
  EXPECT_EQ(first.zeroed, kRam.start + kPage);
  EXPECT_TRUE(first.is_zero);
}

TEST_F(PhysicalMemory, CountsBeginWithTheSecondStage) {
  EXPECT_EQ(first.counts.managed_pages, 0u);
  EXPECT_EQ(first.counts.free_pages, 0u);
  // All but the kernel, the arena's pages, and four more.
  EXPECT_EQ(memory_counts().managed_pages, (kRam.size - kKernel.size) / kPage - 8);
  EXPECT_EQ(memory_counts().free_pages, memory_counts().managed_pages);
}

TEST_F(PhysicalMemory, FirstStageIsOver) {
  EXPECT_PANIC((void)allocate_at_boot(kPage, kPage),
               "boot allocator used after its memory went to the buddy allocator");
}

TEST_F(PhysicalMemory, SecondStageGivesEveryPageThatNobodyHas) {
  const auto taken = [](PhysAddr page) {
    return kKernel.contains(page) || kArena.contains(page) || page - kRam.start < 4 * kPage;
  };
  std::vector<PhysAddr> all;
  for (u64 left = memory_counts().free_pages; left != 0; --left) all.push_back(*allocate_pages(0));
  EXPECT_EQ(allocate_pages(0).error(), Error::no_memory);
  EXPECT_EQ(allocate_zeroed(kPage).error(), Error::no_memory);
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_TRUE(std::ranges::none_of(all, taken));
  EXPECT_TRUE(std::ranges::all_of(all, [](PhysAddr page) { return kRam.contains(PhysRange{page, kPage}); }));
  for (const PhysAddr page : all) free_pages(page, 0);
  EXPECT_EQ(memory_counts().free_pages, memory_counts().managed_pages);
}

TEST_F(PhysicalMemory, SecondStageZeroesWholeBlocks) {
  for (const unsigned order : {0u, 1u, 3u}) {
    const Result<PhysAddr> block = allocate_zeroed(kPage << order);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->value() % (kPage << order), 0u);
    EXPECT_TRUE(is_zero(*block, kPage << order));
    free_pages(*block, order);
  }
  const Result<PhysAddr> root = allocate_zeroed(512);
  ASSERT_TRUE(root);
  EXPECT_TRUE(is_zero(*root, 512));
  free_pages(*root, 0);
}

TEST_F(PhysicalMemory, RefusesWhatItDidNotGive) {
  const PhysAddr pair = *allocate_pages(1);
  EXPECT_PANIC(free_pages(pair, 0), "freed with order 0, allocated with 1");
  EXPECT_PANIC(free_pages(pair + 8, 1), "is_aligned");
  EXPECT_PANIC(free_pages(kRam.end(), 0), "no entry of the page array");
  free_pages(pair, 1);
  EXPECT_PANIC(free_pages(pair, 1), "free");
  EXPECT_EQ(allocate_pages(kMaxOrder<arch::KernelGeometry> + 1).error(), Error::invalid_argument);
}

}  // namespace
}  // namespace atl::mm
