// Trees that are broken, strange or made to do harm: bounded, named, and never read past their end.
#include "tests/host/kernel/device_tree_fixture.hpp"

namespace atl {
namespace {

using host::range;
using host::Tree;
using host::tree_with;

class HostileDeviceTree : public host::DeviceTreeTest {};

TEST_F(HostileDeviceTree, Case13_AnyEightByteAlignedPlace) {
  Tree source = Tree::board("qemu-smp1");
  std::vector<u64> room(source.bytes().size() / 8 + 8);
  for (usize shift = 0; shift < 4; ++shift) {
    u8* place = reinterpret_cast<u8*>(room.data() + shift);
    std::ranges::copy(source.bytes(), place);
    EXPECT_TRUE(parse({place, source.bytes().size()})) << shift;
  }
  EXPECT_FALSE(parse({reinterpret_cast<u8*>(room.data()) + 4, source.bytes().size()}));
  EXPECT_TRUE(noted("not 8-byte aligned"));
}

TEST_F(HostileDeviceTree, Case14_NoChosenStillFindsAConsole) {
  ASSERT_TRUE(parse(Tree::board("no-chosen")));
  ASSERT_TRUE(machine_.console);
  EXPECT_EQ(machine_.console->registers, range(0x9000000, 0x1000));
  EXPECT_EQ(machine_.boot_arguments(), "");
}

TEST_F(HostileDeviceTree, Case14_StdoutPathToNowhereFallsBack) {
  const auto fill = [](void* fdt) {
    fdt_begin_node(fdt, "chosen");
    fdt_property_string(fdt, "stdout-path", "/nowhere@1:9600");
    fdt_end_node(fdt);
    fdt_begin_node(fdt, "uart@9000000");
    fdt_property_string(fdt, "compatible", "arm,pl011");
    const u8 reg[16] = {0, 0, 0, 0, 0x9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0};
    fdt_property(fdt, "reg", reg, sizeof reg);
    fdt_end_node(fdt);
  };
  ASSERT_TRUE(parse(tree_with(fill)));
  EXPECT_TRUE(noted("stdout-path \"/nowhere@1\" names no usable PL011")) << notes();
  ASSERT_TRUE(machine_.console);
  EXPECT_EQ(machine_.console->irq, std::nullopt);
}

TEST_F(HostileDeviceTree, Case14_HeaderIsCheckedBeforeAnythingElse) {
  const auto refused = [&](usize cell, u32 value, const char* why) {
    Tree tree = Tree::board("no-chosen");
    tree.set_cell(cell, value);
    EXPECT_FALSE(parse(tree.bytes())) << why;
    EXPECT_EQ(result_.error().error, Error::bad_firmware_data);
    EXPECT_TRUE(noted(why)) << notes();
  };
  refused(0, 0, "wrong magic number");
  refused(1, 0xffff0000, "larger than 2 MiB");
  refused(1, 12, "total size smaller than its header");
  refused(5, 3, "unknown version");
  refused(1, 0x100000, "but only");         // longer than what is mapped
  refused(2, 0xfffffff0, "broken header");  // off_dt_struct
  refused(3, 0xfffffff0, "broken header");  // off_dt_strings
  refused(9, 0xfffffff0, "broken header");  // size_dt_struct
  EXPECT_FALSE(parse(std::span<const u8>()));
  EXPECT_TRUE(noted("shorter than a header"));
}

TEST_F(HostileDeviceTree, Case14_BrokenStructureIsNamed) {
  Tree tree = Tree::board("no-chosen");
  const u32 structure = fdt_off_dt_struct(tree.bytes().data()) / 4;
  const u32 cells = fdt_size_dt_struct(tree.bytes().data()) / 4;
  tree.set_cell(structure + cells - 1, FDT_NOP);  // no end
  EXPECT_FALSE(parse(tree.bytes()));
  tree.set_cell(structure + cells - 1, FDT_END_NODE);
  EXPECT_FALSE(parse(tree.bytes()));
  tree.set_cell(structure + cells - 1, FDT_END);
  EXPECT_TRUE(parse(tree.bytes()));
  tree.set_cell(structure + cells - 2, FDT_END);  // the root never ends
  EXPECT_FALSE(parse(tree.bytes()));
  tree.set_cell(structure, 0x77);
  EXPECT_FALSE(parse(tree.bytes()));
  EXPECT_TRUE(noted("broken structure")) << notes();
}

TEST_F(HostileDeviceTree, AnEndBeforeTheRootIsBroken) {
  Tree sound = tree_with([](void*) {});
  std::vector<u8> bytes(sound.bytes().begin(), sound.bytes().end());
  const u32 structure = fdt_off_dt_struct(bytes.data());
  const u8 end_of_nothing[8] = {0, 0, 0, FDT_END_NODE, 0, 0, 0, FDT_NOP};
  bytes.insert(bytes.begin() + structure, std::begin(end_of_nothing), std::end(end_of_nothing));
  fdt_set_totalsize(bytes.data(), static_cast<u32>(bytes.size()));
  fdt_set_off_dt_strings(bytes.data(), fdt_off_dt_strings(bytes.data()) + 8);
  fdt_set_size_dt_struct(bytes.data(), fdt_size_dt_struct(bytes.data()) + 8);
  EXPECT_FALSE(parse(Tree(bytes).bytes()));
  EXPECT_TRUE(noted("broken structure")) << notes();
}

TEST_F(HostileDeviceTree, Case14_TruncatedAnywhereIsRefusedNotRead) {
  Tree whole = Tree::board("soc-bus");
  for (usize size = 0; size < whole.bytes().size(); size += 7) {
    EXPECT_FALSE(parse(whole.bytes().first(size))) << size;
  }
}

TEST_F(HostileDeviceTree, Case14_DamagedBytesNeverReadOutside) {
  const auto bytes = Tree::board("soc-bus").bytes().size();
  u32 random = 1;
  for (int round = 0; round < 4000; ++round) {
    Tree tree = Tree::board("soc-bus");
    for (int i = 0; i < 4; ++i) {
      random = random * 1664525 + 1013904223;
      tree.data()[40 + (random >> 8) % (bytes - 40)] = static_cast<u8>(random);
    }
    static_cast<void>(parse(tree.bytes()));  // ASan is the judge
  }
}

TEST_F(HostileDeviceTree, Case14_DepthSixtyFourIsPassedOver) {
  ASSERT_TRUE(parse(tree_with([](void* fdt) {
    for (int i = 0; i < 64; ++i) fdt_begin_node(fdt, "deep");
    for (int i = 0; i < 64; ++i) fdt_end_node(fdt);
    fdt_begin_node(fdt, "psci");
    fdt_property_string(fdt, "compatible", "arm,psci-1.0");
    fdt_property_string(fdt, "method", "hvc");
    fdt_end_node(fdt);
  })));
  EXPECT_TRUE(noted("49 nodes deeper than 16 levels are ignored")) << notes();
  EXPECT_EQ(machine_.psci, arch::PsciConduit::hvc) << "what follows must still be read";
}

TEST_F(HostileDeviceTree, Case14_LongAndUnterminatedBootArguments) {
  const auto boot_arguments = [&](const std::string& text) {
    EXPECT_TRUE(parse(tree_with([&](void* fdt) {
      fdt_begin_node(fdt, "chosen");
      fdt_property(fdt, "bootargs", text.data(), static_cast<int>(text.size()));
      fdt_end_node(fdt);
    })));
    return std::string(machine_.boot_arguments());
  };
  EXPECT_EQ(boot_arguments("maxcpus=4"), "maxcpus=4");
  EXPECT_TRUE(noted("no terminator"));

  std::string words;
  while (words.size() < 8192) words += "word=12345 ";
  words += '\0';
  const std::string kept = boot_arguments(words);
  EXPECT_LE(kept.size(), Machine::kMaxBootArguments);
  EXPECT_TRUE(kept.ends_with("word=12345")) << "cut inside a word";
  EXPECT_TRUE(noted("cut to"));
  EXPECT_EQ(boot_arguments(std::string(8192, 'x')), "");
}

TEST_F(HostileDeviceTree, Case14_WildNumbersInRegAreNamedAndLeftOut) {
  ASSERT_TRUE(parse(tree_with([](void* fdt) {
    fdt_begin_node(fdt, "memory@1");
    fdt_property_string(fdt, "device_type", "memory");
    std::vector<u8> reg(32, 0xff);  // wraps around; then starts beyond 52 bits
    reg[16] = 0x7f;
    fdt_property(fdt, "reg", reg.data(), static_cast<int>(reg.size()));
    fdt_end_node(fdt);
    fdt_begin_node(fdt, "memory@2");
    fdt_property_string(fdt, "device_type", "memory");
    fdt_end_node(fdt);
  })));
  EXPECT_EQ(ram(), std::vector{range(0x40000000, 1_GiB)});
  EXPECT_TRUE(noted("left out: out of range")) << notes();
  EXPECT_TRUE(noted("memory@2 has no usable reg")) << notes();
}

TEST_F(HostileDeviceTree, CellSizesThatNoAddressHasAreRefused) {
  ASSERT_TRUE(parse(tree_with([](void* fdt) {
    fdt_begin_node(fdt, "bus");
    fdt_property_u32(fdt, "#address-cells", 0xffffffff);
    fdt_property_u32(fdt, "#size-cells", 0xffffffff);
    fdt_property(fdt, "ranges", "1234567812345678", 16);
    fdt_begin_node(fdt, "bus");
    fdt_property_u32(fdt, "#address-cells", 1);
    fdt_property_u32(fdt, "#size-cells", 1);
    fdt_property(fdt, "ranges", "1234567812345678", 16);
    fdt_begin_node(fdt, "uart");
    fdt_property_string(fdt, "compatible", "arm,pl011");
    fdt_property(fdt, "reg", "12345678", 8);
    fdt_end_node(fdt);
    fdt_end_node(fdt);
    fdt_begin_node(fdt, "uart");
    fdt_property_string(fdt, "compatible", "arm,pl011");
    fdt_property(fdt, "reg", "12345678", 8);
    fdt_end_node(fdt);
    fdt_end_node(fdt);
  })));
  EXPECT_FALSE(machine_.console);
}

TEST_F(HostileDeviceTree, BusesOfNoCellsDoNotLoop) {
  ASSERT_TRUE(parse(tree_with([](void* fdt) {
    for (int i = 0; i < 2; ++i) {
      fdt_begin_node(fdt, "bus");
      fdt_property_u32(fdt, "#address-cells", 0);
      fdt_property_u32(fdt, "#size-cells", 0);
      fdt_property(fdt, "ranges", "12345678", 8);
    }
    fdt_begin_node(fdt, "bus");
    fdt_property_u32(fdt, "#address-cells", 1);
    fdt_property_u32(fdt, "#size-cells", 1);
    fdt_property(fdt, "ranges", nullptr, 0);
    fdt_begin_node(fdt, "uart");
    fdt_property_string(fdt, "compatible", "arm,pl011");
    fdt_property(fdt, "reg", "12345678", 8);
    for (int i = 0; i < 4; ++i) fdt_end_node(fdt);
  })));
  EXPECT_FALSE(machine_.console);
}

TEST_F(HostileDeviceTree, BogusInitrdIsIgnored) {
  ASSERT_TRUE(parse(tree_with([](void* fdt) {
    fdt_begin_node(fdt, "chosen");
    fdt_property_u64(fdt, "linux,initrd-start", 0x48000000);
    fdt_property_u64(fdt, "linux,initrd-end", 0x48000000);
    fdt_end_node(fdt);
  })));
  EXPECT_TRUE(machine_.initrd.empty());
  EXPECT_TRUE(reservations().empty());
}

TEST_F(HostileDeviceTree, NoMemoryAtAllIsAnError) {
  std::vector<u8> bytes(512);
  fdt_create_empty_tree(bytes.data(), 512);
  EXPECT_FALSE(parse(Tree(bytes)));
  EXPECT_TRUE(noted("no usable memory node"));
}

}  // namespace
}  // namespace atl
