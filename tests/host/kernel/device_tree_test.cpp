#include "tests/host/kernel/device_tree_fixture.hpp"

namespace atl {
namespace {

using host::range;
using host::Tree;
using host::tree_with;

class DeviceTree : public host::DeviceTreeTest {};

TEST_F(DeviceTree, ReadsQemusPlainMachine) {
  ASSERT_TRUE(parse(Tree::board("qemu-smp1")));
  EXPECT_EQ(ram(), std::vector{range(0x40000000, 1_GiB)});
  EXPECT_EQ(machine_.cpu_count, 1u);
  EXPECT_EQ(machine_.cpus[0].affinity, 0u);
  EXPECT_EQ(machine_.psci, arch::PsciConduit::hvc);
  EXPECT_EQ(machine_.gic.version, arch::GicVersion::v3);
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
  EXPECT_EQ(machine_.gic.version, arch::GicVersion::v2);
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
  EXPECT_TRUE(noted("1 banks of RAM beyond 128 separate ones are left out")) << notes();
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

// Whether a reg is an MPIDR, and whose, is for CpuMap::add to say.
TEST_F(DeviceTree, CpuStatusAndEnableMethod) {
  ASSERT_TRUE(parse(Tree::board("soc-bus")));
  ASSERT_EQ(machine_.cpu_count, 5u);
  EXPECT_EQ(machine_.cpus[0].affinity, 0u);
  EXPECT_FALSE(machine_.cpus[1].psci);
  EXPECT_TRUE(machine_.cpus[2].psci);
  EXPECT_EQ(machine_.cpus[2].affinity, 0x300u);
  EXPECT_EQ(machine_.cpus[3].affinity, 0x80000400u);
  EXPECT_EQ(machine_.cpus[4].affinity, 0x100u);
  EXPECT_TRUE(noted("cpu@200 is fail; left out"));
}

}  // namespace
}  // namespace atl
