// A flattened device tree taken apart and put together again, so that it can be changed by its structure
// (Devicetree Specification v0.4, chapter 5). Host only. Reads nothing outside the bytes it is given.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/types.hpp"

namespace atl::fuzz {

struct FlatProperty {
  std::string name;
  std::vector<u8> value;
};

struct FlatNode {
  std::string name;
  std::vector<FlatProperty> properties;
  std::vector<FlatNode> children;

  FlatProperty* find(const std::string& property_name);
  /// The property of that name, made empty at the end if there is none.
  FlatProperty& at(const std::string& property_name);
  usize node_count() const;
};

struct FlatTree {
  std::vector<std::pair<u64, u64>> reserved;  ///< /memreserve/: address and size
  FlatNode root;

  /// Nothing for bytes that are no tree, or one nested deeper than any real one.
  static std::optional<FlatTree> read(std::span<const u8> bytes);
  /// Version 17, packed.
  std::vector<u8> write() const;
};

/// The 4 bytes from `at` on as a big-endian number; they must be there.
u32 big_endian(std::span<const u8> bytes, usize at);
void put_big_endian(std::span<u8> bytes, usize at, u32 value);

}  // namespace atl::fuzz
