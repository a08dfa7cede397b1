#include "arch-arm64/descriptor.hpp"

#include <vector>

#include "tests/host/support.hpp"

namespace atl::arch {
namespace {

std::vector<PageAttributes> all_attributes() {
  std::vector<PageAttributes> list;
  for (MemoryType type : {MemoryType::normal, MemoryType::device, MemoryType::normal_uncached}) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      list.push_back({type, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
    }
  }
  return list;
}

TEST(Descriptor, ZeroIsInvalid) {
  for (int level = -1; level <= kPageLevel; ++level) {
    EXPECT_FALSE(Descriptor().is_valid());
    EXPECT_FALSE(Descriptor().is_table(level));
    EXPECT_FALSE(Descriptor().is_leaf(level));
  }
}

TEST(Descriptor, KnownValues) {
  EXPECT_EQ(Descriptor::table(PhysAddr(0x4567'8000)).raw(), 0x4567'8003u);
  // UXN | PXN | AF | inner shareable | valid page; writable, so AP[2] is 0.
  EXPECT_EQ(Descriptor::leaf(3, PhysAddr(0x4000'1000), kKernelData).raw(), 0x60'0000'4000'1703u);
  EXPECT_EQ(Descriptor::leaf(3, PhysAddr(0x4000'1000), kKernelText).raw(), 0x40'0000'4000'1783u);
  EXPECT_EQ(Descriptor::leaf(3, PhysAddr(0x4000'1000), kKernelReadOnly).raw(), 0x60'0000'4000'1783u);
  EXPECT_EQ(Descriptor::leaf(2, PhysAddr(0x4020'0000), kKernelData).raw(), 0x60'0000'4020'0701u);
  EXPECT_EQ(Descriptor::leaf(3, PhysAddr(0x900'0000), kKernelDevice).raw(), 0x60'0000'0900'0707u);
  EXPECT_EQ(Descriptor::leaf(3, PhysAddr(0x4000'0000), kKernelData, true).raw(), 0x70'0000'4000'0703u);
}

TEST(Descriptor, LeavesRoundTrip) {
  for (int level : {1, 2, 3}) {
    for (const PageAttributes& attributes : all_attributes()) {
      for (u64 pa : {u64{0}, 1_GiB, u64{256_GiB}, (u64{1} << 48) - 1_GiB}) {
        for (bool contiguous : {false, true}) {
          const Descriptor leaf = Descriptor::leaf(level, PhysAddr(pa), attributes, contiguous);
          EXPECT_TRUE(leaf.is_valid());
          EXPECT_TRUE(leaf.is_leaf(level));
          EXPECT_FALSE(leaf.is_table(level));
          EXPECT_EQ(leaf.address(), PhysAddr(pa));
          EXPECT_EQ(leaf.attributes(), attributes);
          EXPECT_EQ(leaf.is_contiguous(), contiguous);
        }
      }
    }
  }
}

TEST(Descriptor, TablesRoundTrip) {
  const Descriptor table = Descriptor::table(PhysAddr(0xffff'ffff'f000));
  EXPECT_EQ(table.address(), PhysAddr(0xffff'ffff'f000));
  for (int level = -1; level < kPageLevel; ++level) {
    EXPECT_TRUE(table.is_table(level));
    EXPECT_FALSE(table.is_leaf(level));
  }
  EXPECT_FALSE(table.is_table(kPageLevel)) << "the same bits are a page at the last level";
}

TEST(Descriptor, BlockEncodingIsReservedAtThePageLevel) {
  const Descriptor block = Descriptor::leaf(2, PhysAddr(0), kKernelData);
  EXPECT_FALSE(block.is_leaf(kPageLevel));
  EXPECT_FALSE(block.is_table(kPageLevel));
}

TEST(Descriptor, ContiguousBitAlone) {
  const Descriptor page = Descriptor::leaf(3, PhysAddr(0x1000), kKernelData);
  EXPECT_TRUE(page.with_contiguous(true).is_contiguous());
  EXPECT_EQ(page.with_contiguous(true).with_contiguous(false), page);
}

TEST(Descriptor, KernelPagesAreNeverBothWritableAndExecutable) {
  for (const PageAttributes& a : {kKernelText, kKernelReadOnly, kKernelData, kKernelDevice}) {
    EXPECT_FALSE(a.writable && a.executable);
  }
  EXPECT_EQ(Descriptor::leaf(3, PhysAddr(0), kKernelText).raw() >> 54 & 1, 1u) << "EL0 may execute nothing";
}

TEST(Descriptor, Case35_WhatNeedsBreakBeforeMake) {
  const PhysAddr pa(0x4000'0000);
  const Descriptor data = Descriptor::leaf(2, pa, kKernelData);
  const Descriptor invalid;

  EXPECT_FALSE(invalid.needs_break_before(data)) << "invalid to valid";
  EXPECT_FALSE(data.needs_break_before(invalid)) << "valid to invalid is the break";
  EXPECT_FALSE(data.needs_break_before(data)) << "no change";
  EXPECT_FALSE(data.needs_break_before(Descriptor::leaf(2, pa, kKernelReadOnly))) << "permissions";
  EXPECT_FALSE(data.needs_break_before(Descriptor::leaf(2, pa, kKernelText))) << "permissions";

  EXPECT_TRUE(data.needs_break_before(Descriptor::leaf(2, pa + 2_MiB, kKernelData))) << "address";
  EXPECT_TRUE(data.needs_break_before(Descriptor::table(pa))) << "block to table";
  EXPECT_TRUE(Descriptor::table(pa).needs_break_before(data)) << "table to block";
  EXPECT_TRUE(Descriptor::table(pa).needs_break_before(Descriptor::table(pa + 0x1000))) << "other table";
  EXPECT_TRUE(data.needs_break_before(Descriptor::leaf(2, pa, kKernelDevice))) << "memory type";
  EXPECT_TRUE(data.needs_break_before(data.with_contiguous(true))) << "contiguous bit";
  PageAttributes not_global = kKernelData;
  not_global.global = false;
  EXPECT_TRUE(data.needs_break_before(Descriptor::leaf(2, pa, not_global))) << "global to ASID-tagged";
}

TEST(Descriptor, MairAgreesWithTheTypes) {
  const auto attribute = [](MemoryType type) {
    return kMairValue >> (8 * static_cast<unsigned>(type)) & 0xff;
  };
  EXPECT_EQ(attribute(MemoryType::normal), 0xffu);
  EXPECT_EQ(attribute(MemoryType::device), 0x04u);
  EXPECT_EQ(attribute(MemoryType::normal_uncached), 0x44u);
}

}  // namespace
}  // namespace atl::arch
