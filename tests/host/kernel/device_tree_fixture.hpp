// What the device tree tests share. The trees are built by tests/host/device_trees.mk: our boards by dtc,
// QEMU's by QEMU.
#pragma once

#include "kernel/device_tree.hpp"

#include <libfdt.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tests/host/support.hpp"

namespace atl::host {

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

/// A property of one address and size, two cells each.
inline void add_registers(void* fdt, const char* name, u64 start, u64 size) {
  const u64 cells[2] = {__builtin_bswap64(start), __builtin_bswap64(size)};
  fdt_property(fdt, name, cells, sizeof cells);
}

/// A small tree made in the test: `fill` adds to the root, which has one bank and two-cell addresses.
template <class Fill>
Tree tree_with(Fill fill, usize room = 65536, u64 bank_bytes = 1_GiB) {
  std::vector<u8> bytes(room);
  void* fdt = bytes.data();
  EXPECT_EQ(fdt_create(fdt, static_cast<int>(room)), 0);
  fdt_finish_reservemap(fdt);
  fdt_begin_node(fdt, "");
  fdt_property_u32(fdt, "#address-cells", 2);
  fdt_property_u32(fdt, "#size-cells", 2);
  fdt_begin_node(fdt, "memory@40000000");
  fdt_property_string(fdt, "device_type", "memory");
  add_registers(fdt, "reg", 0x40000000, bank_bytes);
  fdt_end_node(fdt);
  fill(fdt);
  fdt_end_node(fdt);
  EXPECT_EQ(fdt_finish(fdt), 0);
  bytes.resize(fdt_totalsize(fdt));
  return Tree(bytes);
}

inline PhysRange range(u64 start, u64 size) { return {PhysAddr(start), size}; }

class DeviceTreeTest : public ::testing::Test {
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
      lines.push_back(
          formatted("{} {} {:x} {:x}", mm::to_string(r.kind), r.name(), r.range.start.value(), r.range.size));
    }
    return lines;
  }
  std::string notes() { return std::string(notes_.text()); }
  bool noted(std::string_view part) { return notes().find(part) != std::string::npos; }

  Machine machine_;
  mm::MemoryMap memory_;
  StringSink notes_;
  Result<> result_;
};

}  // namespace atl::host
