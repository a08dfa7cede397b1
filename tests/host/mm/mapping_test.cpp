#include "mm/mapping.hpp"

#include <gtest/gtest.h>

#include "tests/host/mm/fake_tables.hpp"
#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

static_assert(FlushSink<fake::Sink> && LeafVisitor<fake::Leaves>);

TEST(Mapping, LeafTranslatesItsAddresses) {
  const Leaf leaf{VirtAddr(0xffff'0000'0000'0000), PhysAddr(0x8000'0000), 2_MiB, 2, arch::kKernelData, false};
  EXPECT_EQ(leaf.translate(leaf.va), leaf.pa);
  EXPECT_EQ(leaf.translate(leaf.va + 0x1f'ffff), PhysAddr(0x801f'ffff));
}

TEST(Mapping, ChainGivesTablesBackEmptyLastInFirstOut) {
  fake::PhysicalTables physical(4_KiB);
  fake::Memory memory(physical);
  TableChain chain;
  EXPECT_TRUE(chain.empty());
  const PhysAddr a = *memory.allocate_table(4_KiB), b = *memory.allocate_table(4_KiB);
  chain.push(memory, a);
  chain.push(memory, b);
  EXPECT_EQ(chain.count(), 2U);
  // A walker with a stale pointer to a chained table finds nothing valid in it.
  for (PhysAddr table : {a, b}) EXPECT_FALSE(memory.table(table)[0].is_valid());
  EXPECT_EQ(chain.pop(memory), b);
  EXPECT_EQ(chain.pop(memory), a);
  EXPECT_TRUE(chain.empty());
  for (PhysAddr table : {a, b}) EXPECT_EQ(memory.table(table)[0].raw(), 0U);
  EXPECT_PANIC(chain.pop(memory), "count_");
}

}  // namespace
}  // namespace atl::mm
