// RAM and reservations of trees that are wrong about them.
#include "kernel/fdt_memory.hpp"

#include "tests/host/kernel/device_tree_fixture.hpp"

namespace atl {
namespace {

using host::add_registers;
using host::range;
using host::Tree;
using host::tree_with;
using mm::ReservationKind;

/// Parses with what read_machine.cpp has reserved before.
class FdtMemoryTest : public host::DeviceTreeTest {
 protected:
  static constexpr PhysRange kKernel{PhysAddr(0x40200000), 2_MiB};
  static constexpr PhysRange kTree{PhysAddr(0x48000000), 64_KiB};

  bool parse_beside_kernel(Tree tree) {
    machine_ = {};
    memory_ = {};
    notes_ = {};
    memory_.reserve(kKernel, ReservationKind::kernel);
    memory_.reserve(kTree, ReservationKind::device_tree);
    return parse_device_tree(tree.bytes(), machine_, memory_, notes_).has_value() &&
           memory_.finalize({4096, 1_TiB, PhysAddr(1_TiB)}).has_value();
  }
  /// /chosen with an initrd of these bounds.
  static Tree tree_with_initrd(u64 start, u64 end) {
    return tree_with([=](void* fdt) {
      fdt_begin_node(fdt, "chosen");
      fdt_property_u64(fdt, "linux,initrd-start", start);
      fdt_property_u64(fdt, "linux,initrd-end", end);
      fdt_end_node(fdt);
    });
  }
};

TEST_F(FdtMemoryTest, AnInitrdInFreeRamIsReservedInWholePages) {
  ASSERT_TRUE(parse_beside_kernel(tree_with_initrd(0x50000123, 0x50100001)));
  EXPECT_EQ(machine_.initrd, range(0x50000123, 0xffede));
  EXPECT_EQ(reservations().back(), "initrd initrd 50000000 101000");
  EXPECT_EQ(notes(), "");
}

TEST_F(FdtMemoryTest, AnInitrdThatCannotBeOneIsNamedAndIgnored) {
  const auto refused = [&](u64 start, u64 end, const char* why) {
    ASSERT_TRUE(parse_beside_kernel(tree_with_initrd(start, end)));
    EXPECT_TRUE(machine_.initrd.empty()) << "an impossible initrd was taken: it " << why;
    EXPECT_TRUE(noted(why)) << notes();
    EXPECT_EQ(reservations().size(), 2u);
  };
  refused(0x10000000, 0x10100000, "does not lie in RAM");
  refused(0x7ff00000, 0x80000001, "does not lie in RAM");
  refused(0x3fffffff, 0x40000001, "does not lie in RAM");
  refused(0, ~u64{0}, "does not lie in RAM");
  refused(0x403ff000, 0x40400001, "overlaps the kernel image");
  refused(0x40000000, 0x80000000, "overlaps the kernel image");
  refused(0x4800ffff, 0x48020000, "overlaps the device tree");
  refused(0x50000000, 0x50000000, "empty or broken");
  refused(0x50000001, 0x50000000, "empty or broken");
}

TEST_F(FdtMemoryTest, AnInitrdBelowTheLimitOrAboveStays) {
  memory_.reserve(kKernel, ReservationKind::kernel);
  Tree tree = tree_with_initrd(0x7f000000, 0x7f800000);
  ASSERT_TRUE(parse_device_tree(tree.bytes(), machine_, memory_, notes_));
  memory_.limit(16_MiB);
  ASSERT_TRUE(memory_.finalize({65536, 1_TiB, PhysAddr(1_TiB)}));
  EXPECT_TRUE(memory_.is_mappable(machine_.initrd));
}

TEST_F(FdtMemoryTest, Case12_ReservationsOverTheKernelAreNamed) {
  ASSERT_TRUE(parse_beside_kernel(tree_with([](void* fdt) {
    fdt_begin_node(fdt, "reserved-memory");
    fdt_property_u32(fdt, "#address-cells", 2);
    fdt_property_u32(fdt, "#size-cells", 2);
    fdt_property(fdt, "ranges", nullptr, 0);
    fdt_begin_node(fdt, "over@40300000");
    add_registers(fdt, "reg", 0x40300000, 0x1000);
    fdt_property(fdt, "no-map", nullptr, 0);
    fdt_end_node(fdt);
    fdt_begin_node(fdt, "around@40000000");
    add_registers(fdt, "reg", 0x40000000, 0x10000000);
    fdt_end_node(fdt);
    fdt_end_node(fdt);
  })));
  EXPECT_TRUE(
      noted("reservation over@40300000 of 0x1000 bytes at 0x40300000 overlaps the kernel image; its no-map "
            "is ignored"))
      << notes();
  EXPECT_TRUE(
      noted("reservation around@40000000 of 0x10000000 bytes at 0x40000000 overlaps the kernel image\n"))
      << notes();
  EXPECT_TRUE(memory_.is_mappable(kKernel)) << "no-map took the kernel's own memory";
}

TEST_F(FdtMemoryTest, RegistersInsideABankAreNoRam) {
  ASSERT_TRUE(parse_beside_kernel(tree_with([](void* fdt) {
    fdt_begin_node(fdt, "intc@60000000");
    fdt_property_string(fdt, "compatible", "arm,gic-v3");
    const u64 cells[4] = {__builtin_bswap64(0x60000000), __builtin_bswap64(0x10000),
                          __builtin_bswap64(0x10000000), __builtin_bswap64(0x20000)};
    fdt_property(fdt, "reg", cells, sizeof cells);
    fdt_end_node(fdt);
  })));
  EXPECT_FALSE(memory_.is_mappable(range(0x60000000, 0x1000))) << "the GIC's registers are free RAM";
  EXPECT_TRUE(memory_.is_mappable(range(0x60010000, 0x1000)));
  EXPECT_TRUE(noted("the registers of the GIC at 0x60000000 lie inside a bank of RAM; kept out of it"))
      << notes();
  EXPECT_EQ(reservations().size(), 3u) << "the redistributors lie outside RAM";
}

TEST_F(FdtMemoryTest, ABankOfNearlyEverythingIsUsedAsFarAsItCanBe) {
  const auto add_nothing = [](void*) {};
  ASSERT_TRUE(parse_beside_kernel(tree_with(add_nothing, 4096, ~u64{0})))
      << "a vast bank was dropped: " << notes();
  EXPECT_EQ(ram(), std::vector{range(0x40000000, 1_TiB - 0x40000000)});
}

TEST_F(FdtMemoryTest, TheBoardThatIsWrongAboutMemory) {
  ASSERT_TRUE(parse_beside_kernel(Tree::board("wrong-memory"))) << notes();
  EXPECT_EQ(ram().back(), range(0x40000000, 1_TiB - 0x40000000));
  EXPECT_TRUE(noted("its no-map is ignored")) << notes();
  EXPECT_TRUE(noted("initrd at 0x48000000, 0x100000 bytes, overlaps the device tree; ignored")) << notes();
  ASSERT_TRUE(machine_.console);
  EXPECT_EQ(machine_.console->irq, std::nullopt);
}

TEST_F(FdtMemoryTest, TwoThousandBanksAndReservationsEndNothing) {
  ASSERT_TRUE(parse_beside_kernel(tree_with(
      [](void* fdt) {
        for (u64 i = 0; i < 2000; ++i) {
          fdt_begin_node(fdt, ("memory@" + std::to_string(i)).c_str());
          fdt_property_string(fdt, "device_type", "memory");
          add_registers(fdt, "reg", 0x100000000 + i * 0x200000, 0x100000);
          fdt_end_node(fdt);
        }
        fdt_begin_node(fdt, "reserved-memory");
        fdt_property_u32(fdt, "#address-cells", 2);
        fdt_property_u32(fdt, "#size-cells", 2);
        fdt_property(fdt, "ranges", nullptr, 0);
        for (u64 i = 0; i < 2000; ++i) {
          fdt_begin_node(fdt, ("r@" + std::to_string(i)).c_str());
          add_registers(fdt, "reg", 0x50000000 + i * 0x10000, 0x1000);
          fdt_end_node(fdt);
        }
        fdt_end_node(fdt);
      },
      1_MiB)));
  EXPECT_TRUE(noted("1873 banks of RAM beyond 128 separate ones are left out")) << notes();
  EXPECT_TRUE(noted("1874 reservations beyond 128 are joined with a neighbour")) << notes();
  memory_.for_each_free([](PhysRange free) {
    for (u64 i = 0; i < 2000; ++i) {
      ASSERT_FALSE(free.overlaps(range(0x50000000 + i * 0x10000, 0x1000))) << "reserved memory is free";
    }
  });
}

TEST_F(FdtMemoryTest, ATreeOfTooManyEntriesIsRefused) {
  const auto parses = [&](usize reservations) {
    return parse_beside_kernel(tree_with(
        [=](void* fdt) {
          fdt_begin_node(fdt, "reserved-memory");
          fdt_property_u32(fdt, "#address-cells", 2);
          fdt_property_u32(fdt, "#size-cells", 2);
          fdt_property(fdt, "ranges", nullptr, 0);
          fdt_begin_node(fdt, "r");
          std::vector<u64> cells(2 * reservations, __builtin_bswap64(0x50000000));
          fdt_property(fdt, "reg", cells.data(), static_cast<int>(cells.size() * 8));
          fdt_end_node(fdt);
          fdt_end_node(fdt);
        },
        1_MiB));
  };
  EXPECT_TRUE(parses(FdtMemory::kMaxEntries - 1)) << "with the bank as many as there may be";
  EXPECT_FALSE(parses(FdtMemory::kMaxEntries)) << "more entries were read than a tree may have";
  EXPECT_TRUE(noted("more than 4096 banks and reservations")) << notes();
}

TEST_F(FdtMemoryTest, AReservationBlockWithoutAnEndCountsAsFarAsItGoes) {
  Tree tree = tree_with([](void*) {});
  // The block lies before the structure: fill it up to there.
  std::vector<u8> bytes(tree.bytes().begin(), tree.bytes().end());
  const u32 start = fdt_off_mem_rsvmap(bytes.data());
  const u32 end = fdt_off_dt_struct(bytes.data());
  ASSERT_EQ(end - start, 16u);
  Tree unended(bytes);
  unended.set_cell(start / 4 + 1, 0x50000000);
  unended.set_cell(start / 4 + 3, 0x1000);
  // What follows is read as entries until libfdt finds that they are beyond the tree.
  static_cast<void>(parse_beside_kernel(std::move(unended)));
  const auto found = reservations();
  EXPECT_EQ(std::ranges::count(found, "firmware memreserve 50000000 1000"), 1) << notes();
}

}  // namespace
}  // namespace atl
