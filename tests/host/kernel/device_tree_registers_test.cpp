// Where a tree may say that the registers of a device are.
#include "kernel/fdt_memory.hpp"
#include "tests/host/kernel/device_tree_fixture.hpp"

namespace atl {
namespace {

using host::range;
using host::Tree;
using host::tree_with;
using mm::ReservationKind;

/// Parses beside a kernel image and a tree.
class DeviceTreeRegisters : public host::DeviceTreeTest {
 protected:
  struct Range {
    u64 start, size;
  };
  static void add_device(void* fdt, const char* name, const char* compatible, std::vector<Range> ranges) {
    fdt_begin_node(fdt, name);
    fdt_property_string(fdt, "compatible", compatible);
    for (Range& r : ranges) r = {__builtin_bswap64(r.start), __builtin_bswap64(r.size)};
    fdt_property(fdt, "reg", ranges.data(), static_cast<int>(ranges.size() * sizeof(Range)));
    fdt_end_node(fdt);
  }
  template <class Fill>
  void parse_beside_kernel(Fill fill, usize room = 65536) {
    machine_ = {};
    memory_ = {};
    notes_ = {};
    memory_.reserve(range(0x40200000, 2_MiB), ReservationKind::kernel);
    memory_.reserve(range(0x48000000, 64_KiB), ReservationKind::device_tree);
    Tree tree = tree_with(fill, room);
    ASSERT_TRUE(parse_device_tree(tree.bytes(), machine_, memory_, notes_)) << notes();
    ASSERT_TRUE(memory_.finalize({65536, 1_TiB, PhysAddr(1_TiB)}));
  }
  bool takes_gic(const char* compatible, const std::vector<Range>& ranges) {
    parse_beside_kernel([&](void* fdt) { add_device(fdt, "intc", compatible, ranges); });
    return machine_.gic.version.has_value();
  }
  bool takes_uart(Range registers) {
    parse_beside_kernel([&](void* fdt) { add_device(fdt, "uart", "arm,pl011", {registers}); });
    return machine_.console.has_value();
  }
};

TEST_F(DeviceTreeRegisters, AGicIsAlignedAndHasRoomForItsRegisters) {
  constexpr const char* kV2 = "arm,gic-400";
  constexpr const char* kV3 = "arm,gic-v3";
  const Range redistributor{0x80a0000, 0x20000};
  EXPECT_TRUE(takes_gic(kV3, {{0x8000000, 0x10000}, redistributor}));
  EXPECT_FALSE(takes_gic(kV3, {{0x8000000, 0x1000}, redistributor})) << "an impossible GIC was taken";
  EXPECT_TRUE(noted("intc reg entry 0 is too small; ignored")) << notes();
  EXPECT_FALSE(takes_gic(kV3, {{0x8001000, 0x10000}, redistributor})) << "an impossible GIC was taken";
  EXPECT_TRUE(noted("intc reg entry 0 is misaligned; ignored")) << notes();
  for (const Range bad : {Range{0x80a0000, 0x10000}, Range{0x80a0004, 0x20000}}) {
    static_cast<void>(takes_gic(kV3, {{0x8000000, 0x10000}, bad}));
    EXPECT_EQ(machine_.gic.region_count, 0u) << "an impossible GIC was taken";
    EXPECT_TRUE(noted("intc reg entry 1 is")) << notes();
  }
  EXPECT_TRUE(takes_gic(kV2, {{0x2c001000, 0x1000}, {0x2c002000, 0x1000}}));
  EXPECT_FALSE(takes_gic(kV2, {{0x2c001000, 0x100}, {0x2c002000, 0x1000}})) << "an impossible GIC was taken";
  EXPECT_FALSE(takes_gic(kV2, {{0x2c001000, 0x1000}, {0x2c002002, 0x1000}})) << "an impossible GIC was taken";
}

TEST_F(DeviceTreeRegisters, RegistersOverKernelOrTreeAreNotUsed) {
  const Range redistributor{0x80a0000, 0x20000};
  EXPECT_FALSE(takes_gic("arm,gic-v3", {{0x40200000, 0x10000}, redistributor}))
      << "a GIC over the kernel was taken";
  EXPECT_TRUE(noted("intc reg entry 0 overlaps the kernel image; ignored")) << notes();
  EXPECT_FALSE(takes_gic("arm,gic-v3", {{0x30000000, 0x20000000}, redistributor}));
  EXPECT_FALSE(takes_uart({0x40200000, 0x1000}));
  EXPECT_FALSE(takes_uart({0x401ff800, 0x100})) << "its page reaches into the kernel";
  EXPECT_FALSE(takes_uart({0x48000000, 0x1000}));
  EXPECT_TRUE(noted("uart reg entry 0 overlaps the device tree; ignored")) << notes();
}

TEST_F(DeviceTreeRegisters, AUartIsAPageBelowFiftyTwoBits) {
  EXPECT_TRUE(takes_uart({(u64{1} << 52) - 0x1000, 0x1000}));
  EXPECT_FALSE(takes_uart({(u64{1} << 52) - 0x800, 0x800})) << "its page reaches beyond 52 bits";
  EXPECT_TRUE(noted("uart is beyond 52 bits; ignored")) << notes();
  EXPECT_FALSE(takes_uart({0x9000002, 0x1000}));
  EXPECT_FALSE(takes_uart({0x9000000, 0}));
}

TEST_F(DeviceTreeRegisters, AUartInsideABankIsNoRam) {
  ASSERT_TRUE(takes_uart({0x60000000, 0x1000}));
  EXPECT_FALSE(memory_.is_mappable(range(0x60000000, 0x1000)));
  EXPECT_TRUE(noted("the registers of the UART at 0x60000000 lie inside a bank of RAM")) << notes();
}

TEST_F(DeviceTreeRegisters, UnusableDevicesAreCountedToo) {
  parse_beside_kernel([&](void* fdt) {
    for (int i = 0; i < 20; ++i) add_device(fdt, "uart", "arm,pl011", {{0x9000002, 0x1000}});
    for (int i = 0; i < 20; ++i) add_device(fdt, "intc", "arm,gic-400", {{0x8000002, 0x1000}});
  });
  EXPECT_TRUE(noted("uart is one UART too many")) << notes();
  EXPECT_TRUE(noted("intc is one interrupt controller too many")) << notes();
}

TEST_F(DeviceTreeRegisters, RangesAreSearchedUpToABound) {
  const auto has_uart = [&](u32 matching) {
    parse_beside_kernel([&](void* fdt) {
      fdt_begin_node(fdt, "bus");
      fdt_property_u32(fdt, "#address-cells", 2);
      fdt_property_u32(fdt, "#size-cells", 2);
      std::vector<u64> ranges;
      for (u64 i = 0; i <= matching; ++i) {
        const u64 child = i == matching ? 0 : 0x100000000 + i * 0x10000;
        for (const u64 number : {child, u64{0x9000000}, u64{0x1000}})
          ranges.push_back(__builtin_bswap64(number));
      }
      fdt_property(fdt, "ranges", ranges.data(), static_cast<int>(ranges.size() * 8));
      add_device(fdt, "uart", "arm,pl011", {{0, 0x1000}});
      fdt_end_node(fdt);
    });
    return machine_.console.has_value();
  };
  EXPECT_TRUE(has_uart(255));
  EXPECT_FALSE(has_uart(256)) << "range 256 was found";
}

}  // namespace
}  // namespace atl
