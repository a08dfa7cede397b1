// Trees that are broken, strange or made to do harm: bounded, named, and never read past their end.
#include "tests/host/kernel/device_tree_fixture.hpp"

namespace atl {
namespace {

using host::formatted;
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

/// A tree with two UARTs, and these aliases.
Tree tree_with_aliases(const char* stdout_path, std::vector<std::pair<std::string, std::string>> aliases) {
  return tree_with([&](void* fdt) {
    fdt_begin_node(fdt, "aliases");
    for (const auto& [name, value] : aliases) fdt_property_string(fdt, name.c_str(), value.c_str());
    fdt_end_node(fdt);
    fdt_begin_node(fdt, "chosen");
    fdt_property_string(fdt, "stdout-path", stdout_path);
    fdt_end_node(fdt);
    for (const u8 page : {0x0, 0x4}) {
      fdt_begin_node(fdt, page == 0 ? "uart@9000000" : "uart@9040000");
      fdt_property_string(fdt, "compatible", "arm,pl011");
      const u8 reg[16] = {0, 0, 0, 0, 0x9, page, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0};
      fdt_property(fdt, "reg", reg, sizeof reg);
      fdt_end_node(fdt);
    }
  });
}

TEST_F(HostileDeviceTree, Case14_AnAliasIsFollowedOnce) {
  ASSERT_TRUE(parse(tree_with_aliases("serial1:115200n8", {{"serial1", "/uart@9040000"}})));
  EXPECT_EQ(machine_.console->registers.start, PhysAddr(0x9040000));
  EXPECT_EQ(notes(), "");

  // libfdt follows them as deep as they go, one call of itself for each.
  std::vector<std::pair<std::string, std::string>> chain;
  for (int i = 0; i < 1000; ++i) chain.emplace_back(formatted("a{}", i), formatted("a{}", i + 1));
  const std::vector<std::pair<std::string, std::string>> endless[] = {
      {{"a0", "a0"}}, {{"a0", "a1"}, {"a1", "a0"}}, {{"a0", "a1/x"}, {"a1", "a0/x"}}, {{"a0", ""}}, chain};
  for (const auto& aliases : endless) {
    ASSERT_TRUE(parse(tree_with_aliases("a0", aliases)));
    EXPECT_EQ(machine_.console->registers.start, PhysAddr(0x9000000));
    EXPECT_TRUE(noted("stdout-path \"a0\" names no usable PL011")) << notes();
  }
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

TEST_F(HostileDeviceTree, Case14_NopsBetweenAllTagsChangeNothing) {
  Tree source = Tree::board("reservations");
  ASSERT_TRUE(parse(source.bytes()));
  const auto expected = reservations();
  // NOPs in place of a whole node and of a property, as a loader that deletes them leaves them.
  std::vector<u8> bytes(source.bytes().begin(), source.bytes().end());
  Tree tree(bytes);
  const int pool = fdt_path_offset(tree.data(), "/reserved-memory/pool");
  ASSERT_GT(pool, 0);
  ASSERT_EQ(fdt_nop_node(tree.data(), pool), 0);
  ASSERT_EQ(fdt_nop_property(tree.data(), 0, "model"), 0);
  ASSERT_TRUE(parse(tree.bytes())) << notes();
  EXPECT_EQ(reservations(), expected);
}

TEST_F(HostileDeviceTree, Case14_NamesOutsideTheStringsBlockBreakTheStructure) {
  Tree tree = Tree::board("no-chosen");
  const u32 structure = fdt_off_dt_struct(tree.data()) / 4;
  // BEGIN_NODE, the root's empty name, then the first property: PROP, its length, its name's offset.
  ASSERT_EQ(fdt32_to_cpu(reinterpret_cast<const u32*>(tree.data())[structure + 2]), u32{FDT_PROP});
  for (const u32 offset : {fdt_size_dt_strings(tree.data()), 0x7fffffffu, 0xffffffffu}) {
    tree.set_cell(structure + 4, offset);
    EXPECT_FALSE(parse(tree.bytes())) << offset;
    EXPECT_TRUE(noted("broken structure")) << notes();
  }
}

TEST_F(HostileDeviceTree, Case14_StringsWithoutAnEndAreNotReadBeyondTheTree) {
  Tree tree = Tree::board("no-chosen");
  std::fill_n(tree.data() + fdt_off_dt_strings(tree.data()), fdt_size_dt_strings(tree.data()), u8{'x'});
  EXPECT_FALSE(parse(tree.bytes()));
}

TEST_F(HostileDeviceTree, Case14_PhandlesAndInterruptParentsInACircleEnd) {
  ASSERT_TRUE(parse(tree_with(
      [](void* fdt) {
        fdt_property_u32(fdt, "interrupt-parent", 1);
        for (u32 i = 1; i <= 3; ++i) {
          fdt_begin_node(fdt, ("intc@" + std::to_string(i)).c_str());
          fdt_property_u32(fdt, "phandle", i);
          fdt_property_u32(fdt, "interrupt-parent", i % 3 + 1);
          fdt_property_u32(fdt, "#interrupt-cells", 1);
          fdt_property(fdt, "interrupt-controller", nullptr, 0);
          fdt_end_node(fdt);
        }
        fdt_begin_node(fdt, "timer");
        fdt_property_string(fdt, "compatible", "arm,armv8-timer");
        std::vector<u32> cells(40000);
        for (usize i = 0; i < cells.size(); ++i) cells[i] = cpu_to_fdt32(i % 3 + 1);
        fdt_property(fdt, "interrupts-extended", cells.data(), static_cast<int>(cells.size() * 4));
        fdt_end_node(fdt);
      },
      1_MiB)));
  EXPECT_EQ(machine_.timer_irq, std::nullopt);
  EXPECT_TRUE(noted("does not go to the GIC")) << notes();
}

TEST_F(HostileDeviceTree, DuplicatesEmptyListsAndOddUartsAreBorne) {
  const auto uart = [](void* fdt, const char* name, u8 address) {
    fdt_begin_node(fdt, name);
    fdt_property_string(fdt, "compatible", "arm,pl011");
    const u8 reg[16] = {0, 0, 0, 0, address, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10};
    fdt_property(fdt, "reg", reg, sizeof reg);
    fdt_property_u32(fdt, "reg-io-width", 1);
    fdt_property_u32(fdt, "reg-shift", 2);
    fdt_end_node(fdt);
  };
  ASSERT_TRUE(parse(tree_with([&](void* fdt) {
    fdt_property_u32(fdt, "#address-cells", 7);  // the second of that name: the first counts
    for (int i = 0; i < 2; ++i) {
      fdt_begin_node(fdt, "chosen");
      fdt_property_string(fdt, "bootargs", i == 0 ? "first" : "second");
      fdt_property_string(fdt, "bootargs", "third");
      fdt_end_node(fdt);
    }
    fdt_begin_node(fdt, "empty");
    fdt_property(fdt, "compatible", nullptr, 0);
    fdt_property(fdt, "reg", nullptr, 0);
    fdt_end_node(fdt);
    uart(fdt, "uart", 0x09);
    uart(fdt, "uart", 0x0a);
  })));
  EXPECT_EQ(machine_.boot_arguments(), "second");
  ASSERT_TRUE(machine_.console);
  EXPECT_EQ(machine_.console->registers, range(0x9000000, 0x1000)) << "a PL011 is a page, whatever reg says";
  EXPECT_TRUE(machine_.console->identifies);
  EXPECT_TRUE(noted("uart: reg-io-width = 1 is ignored")) << notes();
  EXPECT_FALSE(noted("reg-shift")) << notes();
}

TEST_F(HostileDeviceTree, NamesAreNeverPrintedRaw) {
  ASSERT_TRUE(parse(tree_with([](void* fdt) {
    fdt_begin_node(fdt, "memory@\x1b[2J\natoll: all runs passed");
    fdt_property_string(fdt, "device_type", "memory");
    fdt_end_node(fdt);
  })));
  EXPECT_TRUE(noted("device tree: memory@?[2J?atoll: all runs passed has no usable reg\n")) << notes();
}

TEST_F(HostileDeviceTree, SixHundredCpusFillTheTableAndTheRestIsCounted) {
  ASSERT_TRUE(parse(tree_with(
      [](void* fdt) {
        fdt_begin_node(fdt, "cpus");
        fdt_property_u32(fdt, "#address-cells", 1);
        fdt_property_u32(fdt, "#size-cells", 0);
        for (u32 i = 0; i < 600; ++i) {
          fdt_begin_node(fdt, "cpu");
          fdt_property_string(fdt, "device_type", "cpu");
          fdt_property_u32(fdt, "reg", i);
          fdt_property_string(fdt, "enable-method", "psci");
          fdt_end_node(fdt);
        }
        fdt_end_node(fdt);
      },
      1_MiB)));
  EXPECT_EQ(machine_.cpu_count, kMaxCpus);
  EXPECT_EQ(machine_.cpus_left_out, 600 - kMaxCpus);
  EXPECT_TRUE(noted("CPUs beyond the")) << notes();
}

TEST_F(HostileDeviceTree, NoMemoryAtAllIsAnError) {
  std::vector<u8> bytes(512);
  fdt_create_empty_tree(bytes.data(), 512);
  EXPECT_FALSE(parse(Tree(bytes)));
  EXPECT_TRUE(noted("no usable memory node"));
}

}  // namespace
}  // namespace atl
