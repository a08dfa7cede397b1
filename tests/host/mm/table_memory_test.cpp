#include "mm/table_memory.hpp"

#include <gtest/gtest.h>

#include "tests/host/mm/fake_tables.hpp"
#include "tests/host/support.hpp"

namespace atl::mm {
namespace {

using arch::Descriptor;

static_assert(TableMemory<fake::Memory>);
static_assert(!TableMemory<int>);

constexpr VirtAddr kVa{0xffff'0000'0020'0000};
constexpr PhysAddr kPa{0x4020'0000};

TEST(TableMemory, ReadsBackWhatWasWritten) {
  Descriptor entry;
  write_descriptor(entry, Descriptor(0x1234'5678'9abc'def1));
  EXPECT_EQ(read_descriptor(entry).raw(), 0x1234'5678'9abc'def1U);
}

TEST(TableMemory, Case35_ValidToValidPanicsWithAddressOldAndNew) {
  const Descriptor block = Descriptor::leaf(2, kPa, arch::kKernelData);
  const Descriptor table = Descriptor::table(kPa + 0x1000'0000);
  EXPECT_PANIC(check_break_before_make(kVa, block, table), "break-before-make: 0xffff000000200000 from ");
  EXPECT_PANIC(check_break_before_make(kVa, block, table), host::formatted("to {:#x}", table.raw()));
  EXPECT_PANIC(check_break_before_make(kVa, block, Descriptor::leaf(2, kPa + 2_MiB, arch::kKernelData)),
               "break");
  EXPECT_PANIC(check_break_before_make(kVa, block, Descriptor::leaf(2, kPa, arch::kKernelDevice)), "break");
  EXPECT_PANIC(check_break_before_make(kVa, block, block.with_contiguous(true)), "break");
}

TEST(TableMemory, OneSideInvalidOrOnlyPermissionsPass) {
  const Descriptor block = Descriptor::leaf(2, kPa, arch::kKernelData);
  check_break_before_make(kVa, Descriptor(), block);
  check_break_before_make(kVa, block, Descriptor());
  check_break_before_make(kVa, block, block);
  check_break_before_make(kVa, block, Descriptor::leaf(2, kPa, arch::kKernelText));
}

}  // namespace
}  // namespace atl::mm
