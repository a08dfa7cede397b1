// The walk itself; what the nodes mean is device_tree_test.cpp's.
#include "kernel/fdt_walker.hpp"

#include <gtest/gtest.h>
#include <libfdt.h>

#include <string>
#include <vector>

namespace atl {
namespace {

TEST(FdtProperty, NumbersOfUpToTwoCells) {
  const u8 bytes[] = {0, 0, 0, 1, 0x80, 0, 0, 2, 0xff};
  const FdtProperty property(bytes, sizeof bytes);
  EXPECT_EQ(property.cell_count(), 2u);  // the odd byte is no cell
  EXPECT_EQ(property.number(0, 0), 0u);
  EXPECT_EQ(property.number(0, 1), 1u);
  EXPECT_EQ(property.number(1, 1), 0x80000002u);
  EXPECT_EQ(property.number(0, 2), 0x180000002u);
  EXPECT_EQ(property.number(1, 2), std::nullopt);
  EXPECT_EQ(property.number(0, 3), std::nullopt);
  EXPECT_EQ(property.number(~usize{0}, 1), std::nullopt);
  EXPECT_EQ(FdtProperty().number(0, 1), std::nullopt);
}

TEST(FdtProperty, TextsAndLists) {
  const FdtProperty list(reinterpret_cast<const u8*>("phys\0virt\0cut"), 13);
  EXPECT_EQ(list.text().value, "phys");
  EXPECT_EQ(list.index_in_list("phys"), 0u);
  EXPECT_EQ(list.index_in_list("virt"), 1u);
  EXPECT_EQ(list.index_in_list("vir"), std::nullopt);
  EXPECT_EQ(list.index_in_list("cut"), std::nullopt) << "it has no terminator";
  EXPECT_FALSE(FdtProperty(reinterpret_cast<const u8*>("abc"), 3).text().terminated);
  EXPECT_EQ(FdtProperty().text().value, "");
}

TEST(FdtWalker, StatusAndInterruptParentAreInherited) {
  std::vector<u64> memory(512);
  void* fdt = memory.data();
  fdt_create(fdt, static_cast<int>(memory.size() * 8));
  fdt_finish_reservemap(fdt);
  fdt_begin_node(fdt, "");
  fdt_property_u32(fdt, "interrupt-parent", 7);
  fdt_begin_node(fdt, "bus");
  fdt_property_string(fdt, "status", "disabled");
  fdt_begin_node(fdt, "child");
  fdt_end_node(fdt);
  fdt_end_node(fdt);
  fdt_begin_node(fdt, "bus2");
  fdt_property_u32(fdt, "interrupt-parent", 9);
  fdt_begin_node(fdt, "child");
  fdt_end_node(fdt);
  fdt_end_node(fdt);
  fdt_end_node(fdt);
  ASSERT_EQ(fdt_finish(fdt), 0);

  FdtWalker node(fdt);
  ASSERT_TRUE(node.next());
  EXPECT_EQ(node.depth(), 0);
  EXPECT_EQ(node.reg_count(), 0u);
  ASSERT_TRUE(node.next());
  EXPECT_EQ(node.name(), "bus");
  EXPECT_FALSE(node.enabled());
  ASSERT_TRUE(node.next());
  EXPECT_TRUE(node.is_child_of("bus"));
  EXPECT_FALSE(node.enabled());
  EXPECT_EQ(node.interrupt_parent(), 7u);
  ASSERT_TRUE(node.next());
  EXPECT_TRUE(node.enabled());
  ASSERT_TRUE(node.next());
  EXPECT_TRUE(node.is_child_of("bus2"));
  EXPECT_EQ(node.interrupt_parent(), 9u);
  EXPECT_FALSE(node.next());
  EXPECT_FALSE(node.broken());
}

TEST(FdtWalker, ANodeOfManyPropertiesKeepsThemAll) {
  std::vector<u64> memory(1024);
  void* fdt = memory.data();
  fdt_create(fdt, static_cast<int>(memory.size() * 8));
  fdt_finish_reservemap(fdt);
  fdt_begin_node(fdt, "");
  for (u32 i = 0; i < 100; ++i) fdt_property_u32(fdt, ("p" + std::to_string(i)).c_str(), i);
  fdt_end_node(fdt);
  ASSERT_EQ(fdt_finish(fdt), 0);
  FdtWalker node(fdt);
  ASSERT_TRUE(node.next());
  for (u32 i = 0; i < 100; ++i) EXPECT_EQ(node.property(("p" + std::to_string(i)).c_str()).number(0, 1), i);
  EXPECT_FALSE(node.property("p100").exists());
}

}  // namespace
}  // namespace atl
