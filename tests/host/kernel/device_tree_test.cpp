// The trees are built by tests/host/device_trees.mk: our boards by dtc, QEMU's by QEMU.
#include "kernel/device_tree.hpp"

#include <libfdt.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tests/host/support.hpp"

namespace atoll {
namespace {

/// The bytes of a tree at an address of any alignment that is a multiple of 8, with nothing readable after them.
class Tree {
 public:
  explicit Tree(std::vector<u8> bytes) : size_(bytes.size()), storage_(new u64[(size_ + 7) / 8]) {
    std::copy(bytes.begin(), bytes.end(), data());
  }
  static Tree board(const std::string& name) {
    std::ifstream file("build/dtb/" + name + ".dtb", std::ios::binary);
    std::vector<u8> bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_FALSE(bytes.empty()) << name << ": run from the project root after building the trees";
    return Tree(bytes);
  }
  u8* data() { return reinterpret_cast<u8*>(storage_.get()); }
  std::span<const u8> bytes() { return {data(), size_}; }
  void set_cell(usize cell, u32 value) {
    for (int i = 0; i < 4; ++i) data()[cell * 4 + i] = static_cast<u8>(value >> (24 - 8 * i));
  }

 private:
  usize size_;
  std::unique_ptr<u64[]> storage_;
};

/// A small tree made in the test: `fill` adds to the root, which has a 1 GiB bank and two-cell addresses.
template <class Fill>
Tree tree_with(Fill fill, usize room = 65536) {
  std::vector<u8> bytes(room);
  void* fdt = bytes.data();
  EXPECT_EQ(fdt_create(fdt, static_cast<int>(room)), 0);
  fdt_finish_reservemap(fdt);
  fdt_begin_node(fdt, "");
  fdt_property_u32(fdt, "#address-cells", 2);
  fdt_property_u32(fdt, "#size-cells", 2);
  fdt_begin_node(fdt, "memory@40000000");
  fdt_property_string(fdt, "device_type", "memory");
  const u8 bank[16] = {0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0};
  fdt_property(fdt, "reg", bank, sizeof bank);
  fdt_end_node(fdt);
  fill(fdt);
  fdt_end_node(fdt);
  EXPECT_EQ(fdt_finish(fdt), 0);
  bytes.resize(fdt_totalsize(fdt));
  return Tree(bytes);
}

PhysRange range(u64 start, u64 size) { return {PhysAddr(start), size}; }

class DeviceTree : public ::testing::Test {
 protected:
  bool parse(std::span<const u8> bytes) {
    machine_ = {};
    memory_ = {};
    result_ = parse_device_tree(bytes, machine_, memory_, notes_);
    return result_.has_value();
  }
  /// Parses a sound tree and finalizes the memory map at 4 KiB pages.
  bool parse(Tree tree) {
    return parse(tree.bytes()) && memory_.finalize({4096, 1_TiB, mm::kPhysicalEnd}).has_value();
  }
  std::vector<PhysRange> ram() { return {memory_.ram().begin(), memory_.ram().end()}; }
  /// "kind name start size" of each reservation, by start.
  std::vector<std::string> reservations() {
    std::vector<std::string> lines;
    for (const mm::Reservation& r : memory_.reservations()) {
      lines.push_back(host::formatted("{} {} {:x} {:x}", mm::to_string(r.kind), r.name(), r.range.start.value(),
                                      r.range.size));
    }
    return lines;
  }
  std::string notes() { return std::string(notes_.text()); }
  bool noted(std::string_view part) { return notes().find(part) != std::string::npos; }

  Machine machine_;
  mm::MemoryMap memory_;
  host::StringSink notes_;
  Result<> result_;
};

TEST_F(DeviceTree, ReadsQemusPlainMachine) {
  ASSERT_TRUE(parse(Tree::board("qemu-smp1")));
  EXPECT_EQ(ram(), std::vector{range(0x40000000, 1_GiB)});
  EXPECT_EQ(machine_.cpu_count, 1u);
  EXPECT_EQ(machine_.cpus[0].affinity, 0u);
  EXPECT_EQ(machine_.psci, arch::PsciConduit::hvc);
  EXPECT_EQ(machine_.gic.version, GicDescription::Version::v3);
  EXPECT_EQ(machine_.gic.distributor, range(0x8000000, 0x10000));
  ASSERT_EQ(machine_.gic.region_count, 1u);
  EXPECT_EQ(machine_.gic.regions[0], range(0x80a0000, 0xf60000));
  EXPECT_EQ(machine_.timer_irq, 27u);
  ASSERT_TRUE(machine_.console);
  EXPECT_EQ(machine_.console->registers, range(0x9000000, 0x1000));
  EXPECT_EQ(machine_.console->irq, 33u);
  EXPECT_EQ(machine_.boot_arguments(), "");
  EXPECT_EQ(notes(), "");
}

TEST_F(DeviceTree, Case1_SecondRedistributorRegionIsRead) {
  ASSERT_TRUE(parse(Tree::board("qemu-smp124")));
  ASSERT_EQ(machine_.gic.region_count, 2u);
  EXPECT_EQ(machine_.gic.regions[1], range(0x40'0000'0000, 0x4000000));
}

TEST_F(DeviceTree, Case3_CpusOf160AreInTreeOrderWithTheirAffinity) {
  ASSERT_TRUE(parse(Tree::board("qemu-smp160")));
  ASSERT_EQ(machine_.cpu_count, 160u);
  for (unsigned i = 0; i < 160; ++i) {
    EXPECT_EQ(machine_.cpus[i].affinity, (i / 16) << 8 | i % 16);
    EXPECT_TRUE(machine_.cpus[i].psci);
  }
  EXPECT_EQ(machine_.gic.region_count, 2u);
}

TEST_F(DeviceTree, Case3_ShuffledCpuNodesKeepTheirOrder) {
  ASSERT_TRUE(parse(Tree::board("shuffled-cpus")));
  ASSERT_EQ(machine_.cpu_count, 18u);
  EXPECT_EQ(machine_.cpus[0].affinity, 0x101u);
  EXPECT_EQ(machine_.cpus[5].affinity, 0x100u);
  EXPECT_EQ(machine_.cpus[17].affinity, 0u);
}

TEST_F(DeviceTree, CpusBeyondTheRoomAreCountedAndLeftOut) {
  ASSERT_TRUE(parse(tree_with([](void* fdt) {
    fdt_begin_node(fdt, "cpus");
    fdt_property_u32(fdt, "#address-cells", 1);
    fdt_property_u32(fdt, "#size-cells", 0);
    for (unsigned i = 0; i < kMaxCpus + 3; ++i) {
      fdt_begin_node(fdt, ("cpu@" + std::to_string(i)).c_str());
      fdt_property_string(fdt, "device_type", "cpu");
      fdt_property_u32(fdt, "reg", (i / 16) << 8 | i % 16);
      fdt_end_node(fdt);
    }
    fdt_end_node(fdt);
  })));
  EXPECT_EQ(machine_.cpu_count, kMaxCpus);
  EXPECT_EQ(machine_.cpus_left_out, 3u);
  EXPECT_TRUE(noted("3 CPUs beyond the 512")) << notes();
}

TEST_F(DeviceTree, Case4_GicVersion2IsTheDefaultOfVirt) {
  ASSERT_TRUE(parse(Tree::board("qemu-gicv2")));
  EXPECT_EQ(machine_.gic.version, GicDescription::Version::v2);
  EXPECT_EQ(machine_.gic.cpu_interface, range(0x8010000, 0x10000));
  EXPECT_EQ(machine_.gic.region_count, 0u);
  EXPECT_EQ(machine_.cpu_count, 8u);
}

TEST_F(DeviceTree, Case6_ConduitIsWhatTheTreeSays) {
  ASSERT_TRUE(parse(Tree::board("qemu-virtualization")));
  EXPECT_EQ(machine_.psci, arch::PsciConduit::smc);
}

TEST_F(DeviceTree, Case6_NoPsciNodeMeansNoConduit) {
  ASSERT_TRUE(parse(tree_with([](void*) {})));
  EXPECT_EQ(machine_.psci, arch::PsciConduit::none);
  EXPECT_EQ(machine_.timer_irq, std::nullopt);
  EXPECT_FALSE(machine_.console);
}

TEST_F(DeviceTree, Case9_DisabledMemoryIsSkipped) {
  for (const char* board : {"qemu-secure", "disabled-memory"}) {
    ASSERT_TRUE(parse(Tree::board(board)));
    EXPECT_EQ(ram(), std::vector{range(0x40000000, 1_GiB)}) << board << ": disabled memory was added";
    EXPECT_TRUE(noted("secram@e000000 is disabled; ignored")) << notes();
  }
}

TEST_F(DeviceTree, Case9_DescendingNumaBanksAndANodeWithoutMemory) {
  ASSERT_TRUE(parse(Tree::board("qemu-numa")));
  EXPECT_EQ(ram(), std::vector{range(0x40000000, 1_GiB)});
}

TEST_F(DeviceTree, Case9_SixtyFourUnsortedOverlappingAndEmptyBanks) {
  ASSERT_TRUE(parse(Tree::board("many-banks")));
  ASSERT_EQ(ram().size(), 9u);
  EXPECT_EQ(memory_.ram_bytes(), 896_MiB);
  EXPECT_EQ(ram()[0], range(0x40000000, 80_MiB));
  EXPECT_EQ(ram()[8], range(0x7e000000, 32_MiB));
}

TEST_F(DeviceTree, ARefusedBankIsNotedAndTheOthersKept) {
  // One bank more than the map holds, none touching another.
  ASSERT_TRUE(parse(tree_with([](void* fdt) {
    for (u64 i = 0; i < mm::MemoryMap::kMaxBanks; ++i) {
      fdt_begin_node(fdt, "memory@100000000");
      fdt_property_string(fdt, "device_type", "memory");
      const fdt64_t reg[2] = {cpu_to_fdt64(4_GiB + i * 2_MiB), cpu_to_fdt64(1_MiB)};
      fdt_property(fdt, "reg", reg, sizeof reg);
      fdt_end_node(fdt);
    }
  }).bytes()));
  EXPECT_TRUE(memory_.is_ram(range(0x40000000, 1_GiB)));
  EXPECT_TRUE(memory_.is_ram(range(4_GiB, 1_MiB)));
  EXPECT_TRUE(noted("left out: out of memory")) << notes();
}

TEST_F(DeviceTree, Case12_EveryKindOfReservation) {
  ASSERT_TRUE(parse(Tree::board("reservations")));
  EXPECT_EQ(reservations(), (std::vector<std::string>{
                                "firmware memreserve 42000000 2000",
                                "reserved firmware@50000000 50000000 123000",
                                "reserved overlap@50100000 50100000 100000",
                                "reserved firmware@50000000 51000000 1000",
                                "no-map secure@58000000 58000000 2000",
                            }));
  EXPECT_TRUE(noted("reserved-memory/pool has no address; ignored")) << notes();
}

TEST_F(DeviceTree, BusesTranslateAndAliasesResolve) {
  ASSERT_TRUE(parse(Tree::board("soc-bus"))) << notes();
  EXPECT_EQ(machine_.gic.distributor, range(0x10100000, 0x10000));
  ASSERT_EQ(machine_.gic.region_count, 2u);
  EXPECT_EQ(machine_.gic.regions[0], range(0x10200000, 0x80000));
  EXPECT_EQ(machine_.gic.regions[1], range(0x30000000, 0x80000));
  EXPECT_EQ(machine_.gic.redistributor_stride, 0x40000u);
  ASSERT_TRUE(machine_.console);
  EXPECT_EQ(machine_.console->registers, range(0x10801000, 0x1000));
  EXPECT_EQ(machine_.console->irq, 40u);
  EXPECT_EQ(machine_.timer_irq, 27u) << "interrupt-names must be honoured";
  EXPECT_EQ(machine_.psci, arch::PsciConduit::smc);
  EXPECT_EQ(machine_.boot_arguments(), "quiet run=selftest,poweroff");
  EXPECT_EQ(machine_.initrd, range(0x84000000, 0x800000));
  EXPECT_EQ(reservations(), std::vector<std::string>{"initrd initrd 84000000 800000"});
  EXPECT_TRUE(noted("serial@0 reg entry 0 is not mapped into the CPUs' address space")) << notes();
}

TEST_F(DeviceTree, CpuStatusAndEnableMethod) {
  ASSERT_TRUE(parse(Tree::board("soc-bus")));
  ASSERT_EQ(machine_.cpu_count, 3u);
  EXPECT_EQ(machine_.cpus[0].affinity, 0u);
  EXPECT_FALSE(machine_.cpus[1].psci);
  EXPECT_EQ(machine_.cpus[2].affinity, 0x300u);
  EXPECT_TRUE(noted("cpu@200 is fail; left out"));
  EXPECT_TRUE(noted("cpu@400 has no valid MPIDR in reg; left out"));
  EXPECT_TRUE(noted("cpu@500 repeats MPIDR 0x100; left out"));
}

TEST_F(DeviceTree, Case13_AnyEightByteAlignedPlace) {
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

TEST_F(DeviceTree, Case14_NoChosenStillFindsAConsole) {
  ASSERT_TRUE(parse(Tree::board("no-chosen")));
  ASSERT_TRUE(machine_.console);
  EXPECT_EQ(machine_.console->registers, range(0x9000000, 0x1000));
  EXPECT_EQ(machine_.boot_arguments(), "");
}

TEST_F(DeviceTree, Case14_StdoutPathToNowhereFallsBack) {
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
  EXPECT_TRUE(noted("stdout-path \"/nowhere@1\" names no node")) << notes();
  ASSERT_TRUE(machine_.console);
  EXPECT_EQ(machine_.console->irq, std::nullopt);
}

TEST_F(DeviceTree, Case14_HeaderIsCheckedBeforeAnythingElse) {
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
  refused(1, 0x100000, "but only");               // longer than what is mapped
  refused(2, 0xfffffff0, "broken structure");      // off_dt_struct
  refused(3, 0xfffffff0, "broken structure");      // off_dt_strings
  refused(9, 0xfffffff0, "broken structure");      // size_dt_struct
  EXPECT_FALSE(parse(std::span<const u8>()));
  EXPECT_TRUE(noted("shorter than a header"));
}

TEST_F(DeviceTree, Case14_TruncatedAnywhereIsRefusedNotRead) {
  Tree whole = Tree::board("soc-bus");
  for (usize size = 0; size < whole.bytes().size(); size += 7) {
    EXPECT_FALSE(parse(whole.bytes().first(size))) << size;
  }
}

TEST_F(DeviceTree, Case14_DamagedBytesNeverReadOutside) {
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

TEST_F(DeviceTree, Case14_DepthSixtyFourIsPassedOver) {
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

TEST_F(DeviceTree, Case14_LongAndUnterminatedBootArguments) {
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

TEST_F(DeviceTree, Case14_WildNumbersInRegAreNamedAndLeftOut) {
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

TEST_F(DeviceTree, CellSizesThatNoAddressHasAreRefused) {
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

TEST_F(DeviceTree, BusesOfNoCellsDoNotLoop) {
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

TEST_F(DeviceTree, BogusInitrdIsIgnored) {
  ASSERT_TRUE(parse(tree_with([](void* fdt) {
    fdt_begin_node(fdt, "chosen");
    fdt_property_u64(fdt, "linux,initrd-start", 0x48000000);
    fdt_property_u64(fdt, "linux,initrd-end", 0x48000000);
    fdt_end_node(fdt);
  })));
  EXPECT_TRUE(machine_.initrd.empty());
  EXPECT_TRUE(reservations().empty());
}

TEST_F(DeviceTree, NoMemoryAtAllIsAnError) {
  std::vector<u8> bytes(512);
  fdt_create_empty_tree(bytes.data(), 512);
  EXPECT_FALSE(parse(Tree(bytes)));
  EXPECT_TRUE(noted("no usable memory node"));
}

}  // namespace
}  // namespace atoll
