#include "arch-arm64/geometry.hpp"

#include "tests/host/support.hpp"

namespace atl::arch {
namespace {

using G4K39 = Geometry<Granule::k4K, 39>;
using G4K48 = Geometry<Granule::k4K, 48>;
using G4K52 = Geometry<Granule::k4K, 52>;
using G16K36 = Geometry<Granule::k16K, 36>;
using G16K47 = Geometry<Granule::k16K, 47>;
using G16K48 = Geometry<Granule::k16K, 48>;
using G16K52 = Geometry<Granule::k16K, 52>;
using G64K42 = Geometry<Granule::k64K, 42>;
using G64K48 = Geometry<Granule::k64K, 48>;
using G64K52 = Geometry<Granule::k64K, 52>;

/// One row of the table of configurations: root level, root entries, bytes an entry of the root covers.
template <class G>
void expect_root(int level, usize entries, u64 entry_bytes) {
  EXPECT_EQ(G::kRootLevel, level);
  EXPECT_EQ(G::kRootEntries, entries);
  EXPECT_EQ(G::entry_bytes(G::kRootLevel), entry_bytes);
}

TEST(Geometry, RootsOfAllConfigurations) {
  expect_root<G4K39>(1, 512, 1_GiB);
  expect_root<G4K48>(0, 512, 512_GiB);
  expect_root<G4K52>(-1, 16, 256_TiB);
  expect_root<G16K36>(2, 2048, 32_MiB);
  expect_root<G16K47>(1, 2048, 64_GiB);
  expect_root<G16K48>(0, 2, 128_TiB);
  expect_root<G16K52>(0, 32, 128_TiB);
  expect_root<G64K42>(2, 8192, 512_MiB);
  expect_root<G64K48>(1, 64, 4_TiB);
  expect_root<G64K52>(1, 1024, 4_TiB);
}

template <class G>
class EveryGeometry : public ::testing::Test {};
using All = ::testing::Types<G4K39, G4K48, G4K52, G16K36, G16K47, G16K48, G16K52, G64K42, G64K48, G64K52>;
TYPED_TEST_SUITE(EveryGeometry, All);

TYPED_TEST(EveryGeometry, LevelsNestAndTheRootCoversTheHalf) {
  using G = TypeParam;
  EXPECT_EQ(G::entry_bytes(kPageLevel), G::kPageSize);
  for (int level = G::kRootLevel; level < kPageLevel; ++level) {
    EXPECT_EQ(G::entry_bytes(level), G::entry_bytes(level + 1) * G::entries(level + 1)) << "level " << level;
  }
  EXPECT_EQ(G::entry_bytes(G::kRootLevel) * G::kRootEntries, G::kKernelBytes);
  EXPECT_LE(G::kRootEntries, usize{1} << G::kBitsPerLevel);
  EXPECT_GE(G::kRootEntries, 2u) << "a root with one entry is a level too many";
  EXPECT_EQ(G::kKernelStart + (G::kKernelBytes - 1), VirtAddr(~u64{0}));
}

TYPED_TEST(EveryGeometry, IndexesRebuildTheAddress) {
  using G = TypeParam;
  const VirtAddr va = G::kKernelStart + (0x1234'5678'9abc'def0 & (G::kKernelBytes - 1));
  u64 offset = va.value() & (G::kPageSize - 1);
  for (int level = G::kRootLevel; level <= kPageLevel; ++level) {
    EXPECT_LT(G::index(va, level), G::entries(level));
    offset += G::index(va, level) * G::entry_bytes(level);
  }
  EXPECT_EQ(G::kKernelStart + offset, va);
  EXPECT_EQ(G::index(VirtAddr(~u64{0}), G::kRootLevel), G::kRootEntries - 1);
  EXPECT_EQ(G::index(G::kKernelStart, G::kRootLevel), 0u);
}

TYPED_TEST(EveryGeometry, TablesAreSizedAndAligned) {
  using G = TypeParam;
  EXPECT_GE(G::kRootBytes, 64u);
  EXPECT_TRUE(is_power_of_two(G::kRootBytes));
  EXPECT_EQ(G::table_bytes(kPageLevel), G::kRootLevel == kPageLevel ? G::kRootBytes : G::kPageSize);
}

TEST(Geometry, RootBytes) {
  EXPECT_EQ(G64K48::kRootBytes, 512u);
  EXPECT_EQ(G16K48::kRootBytes, 64u) << "16 bytes of entries, but TTBR needs 64";
  EXPECT_EQ(G64K42::kRootBytes, 65536u);
}

TEST(Geometry, Blocks) {
  EXPECT_TRUE(G4K48::has_blocks(1));
  EXPECT_TRUE(G4K48::has_blocks(2));
  EXPECT_FALSE(G4K48::has_blocks(0));
  EXPECT_FALSE(G16K47::has_blocks(1));
  EXPECT_TRUE(G16K47::has_blocks(2));
  EXPECT_FALSE(G64K48::has_blocks(1)) << "4 TiB blocks need LPA";
  EXPECT_TRUE(G64K48::has_blocks(2));
  EXPECT_TRUE(G64K48::may_be_leaf(3));
}

TEST(Geometry, ContiguousRuns) {
  const auto run_bytes = []<class G>(G, int level) {
    return G::contiguous_entries(level) * G::entry_bytes(level);
  };
  EXPECT_EQ(run_bytes(G4K48(), 3), 64_KiB);
  EXPECT_EQ(run_bytes(G4K48(), 2), 32_MiB);
  EXPECT_EQ(run_bytes(G4K48(), 1), 16_GiB);
  EXPECT_EQ(run_bytes(G16K47(), 3), 2_MiB);
  EXPECT_EQ(run_bytes(G16K47(), 2), 1_GiB);
  EXPECT_EQ(run_bytes(G64K48(), 3), 2_MiB);
  EXPECT_EQ(run_bytes(G64K48(), 2), 16_GiB);
  EXPECT_EQ(G16K47::contiguous_entries(1), 1u);
  EXPECT_EQ(G4K48::contiguous_entries(0), 1u);
}

TEST(Geometry, GranuleNames) {
  EXPECT_STREQ(to_string(granule_of_kib(4)), "4K");
  EXPECT_STREQ(to_string(granule_of_kib(16)), "16K");
  EXPECT_STREQ(to_string(granule_of_kib(64)), "64K");
}

}  // namespace
}  // namespace atl::arch
