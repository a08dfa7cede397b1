#include "mm/ptdump.hpp"

#include <gtest/gtest.h>

#include "mm/layout.hpp"
#include "mm/page_tables.hpp"
#include "tests/host/mm/fake_tables.hpp"
#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

using L = Layout<arch::Geometry<arch::Granule::k4K, 48>>;

class PageTableDumpTest : public testing::Test {
 public:
  void leaf(VirtAddr va, u64 bytes, arch::PageAttributes attributes, bool contiguous = false) {
    dump.leaf({va, PhysAddr(1_GiB), bytes, bytes == 4_KiB ? 3 : 2, attributes, contiguous});
  }
  host::StringSink text;
  PageTableDump dump{kRegions<L>, &text};
};

TEST_F(PageTableDumpTest, MergesAdjacentEqualLeavesUnderTheirRegionsName) {
  const VirtAddr va = L::kVmalloc.start;
  leaf(va, 4_KiB, arch::kKernelData);
  leaf(va + 4_KiB, 4_KiB, arch::kKernelData);
  leaf(va + 8_KiB, 4_KiB, arch::kKernelReadOnly);
  leaf(va + 16_KiB, 4_KiB, arch::kKernelReadOnly);
  leaf(VirtAddr(0) - 4_MiB, 2_MiB, arch::kKernelText, true);
  leaf(VirtAddr(0) - 2_MiB, 2_MiB, arch::kKernelText, true);
  const auto summary = dump.finish();
  EXPECT_TRUE(summary.passed());
  EXPECT_EQ(summary.ranges, 4U);
  EXPECT_EQ(summary.mapped_bytes, 16_KiB + 4_MiB);
  EXPECT_EQ(text.text(),
            host::formatted("---[ vmalloc ]---\n"
                            "{}-{}     8K  rw- normal, 2 x 4K\n"
                            "{}-{}     4K  r-- normal, 1 x 4K\n"
                            "{}-{}     4K  r-- normal, 1 x 4K\n"
                            "---[ kernel image ]---\n"
                            "0xffffffffffc00000-0xffffffffffffffff     4M  r-x normal, 2 x 2M contiguous\n"
                            "4 ranges, 4112K mapped, 0 tables, 0B writable and executable\n",
                            va, va + 0x1fff, va + 0x2000, va + 0x2fff, va + 0x4000, va + 0x4fff));
}

TEST_F(PageTableDumpTest, RegionsAndLeafSizesEndARange) {
  leaf(L::kVmemmap.end() - 4_KiB, 4_KiB, arch::kKernelData);
  leaf(L::kVmalloc.start, 4_KiB, arch::kKernelData);
  leaf(L::kVmalloc.start + 4_KiB, 4_KiB, arch::kKernelData, true);
  EXPECT_EQ(dump.finish().ranges, 3U);
}

TEST_F(PageTableDumpTest, FailsOnWritableAndExecutable) {
  leaf(L::kLinear.start, 4_KiB, arch::kKernelText);
  leaf(L::kLinear.start + 4_KiB, 4_KiB, {.writable = true, .executable = true});
  leaf(L::kLinear.start + 8_KiB, 4_KiB, {.writable = true, .executable = true});
  const auto summary = dump.finish();
  EXPECT_FALSE(summary.passed());
  EXPECT_EQ(summary.writable_executable_bytes, 8_KiB);
  EXPECT_EQ(summary.first_writable_executable, L::kLinear.start + 4_KiB);
  EXPECT_NE(text.text().find("rwx normal, 2 x 4K  <-- W+X\n"), std::string::npos) << text.text();
}

TEST_F(PageTableDumpTest, NamesMemoryTypes) {
  leaf(L::kDevices.start, 4_KiB, arch::kKernelDevice);
  leaf(L::kDevices.start + 8_KiB, 4_KiB, {.type = arch::MemoryType::normal_uncached, .global = false});
  dump.finish();
  EXPECT_NE(text.text().find("rw- device, 1 x 4K\n"), std::string::npos) << text.text();
  EXPECT_NE(text.text().find("r-- uncached not global, 1 x 4K\n"), std::string::npos) << text.text();
}

TEST(PageTableDump, CheckOnlyPrintsNothingAndFindsTheSame) {
  host::CapturedPrint printed;
  PageTableDump dump(kRegions<L>, nullptr);
  dump.leaf({L::kLinear.start, PhysAddr(1_GiB), 4_KiB, 3, {.writable = true, .executable = true}, false});
  EXPECT_FALSE(dump.finish().passed());
  EXPECT_EQ(printed.text(), "");
}

template <class G>
class DumpOfTables : public testing::Test {};
using Geometries =
    testing::Types<arch::Geometry<arch::Granule::k4K, 48>, arch::Geometry<arch::Granule::k16K, 47>,
                   arch::Geometry<arch::Granule::k64K, 48>>;
TYPED_TEST_SUITE(DumpOfTables, Geometries);

TYPED_TEST(DumpOfTables, VisitsTheWalkersLeavesAndTables) {
  using G = TypeParam;
  fake::PhysicalTables physical(G::kPageSize);
  auto tables = *PageTables<G, fake::Memory>::create(fake::Memory(physical));
  const u64 block = G::entry_bytes(2);
  ASSERT_TRUE(tables.map(G::kKernelStart, PhysAddr(64_GiB), block + 3 * G::kPageSize, arch::kKernelData));
  PageTableDump dump(kRegions<Layout<G>>, nullptr);
  tables.visit({G::kKernelStart, G::kKernelBytes}, dump);
  const auto summary = dump.finish();
  EXPECT_EQ(summary.ranges, 2U) << "a block and three pages";
  EXPECT_EQ(summary.mapped_bytes, block + 3 * G::kPageSize);
  EXPECT_EQ(summary.tables, physical.count() - 1);
}

}  // namespace
}  // namespace atl::mm
