#include "tests/fuzz/flat_tree.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace atl::fuzz {
namespace {

constexpr u32 kMagic = 0xd00dfeed;
constexpr u32 kBeginNode = 1;
constexpr u32 kEndNode = 2;
constexpr u32 kProperty = 3;
constexpr u32 kNothing = 4;
constexpr u32 kEnd = 9;
constexpr usize kHeaderBytes = 40;
constexpr usize kMaxDepth = 100;

/// A NUL-terminated text that begins at `at`, if it ends inside.
std::optional<std::string> text_at(std::span<const u8> bytes, usize at) {
  if (at >= bytes.size()) return std::nullopt;
  const auto end = std::find(bytes.begin() + at, bytes.end(), u8{0});
  if (end == bytes.end()) return std::nullopt;
  return std::string(bytes.begin() + at, end);
}

class Reader {
 public:
  explicit Reader(std::span<const u8> bytes) : bytes_(bytes) {}

  bool read(FlatTree& tree) {
    if (bytes_.size() < kHeaderBytes || big_endian(bytes_, 0) != kMagic) return false;
    const usize structure = big_endian(bytes_, 8);
    const usize strings = big_endian(bytes_, 12);
    if (structure > bytes_.size() || strings > bytes_.size()) return false;
    strings_ = bytes_.subspan(strings);
    return read_reserved(tree) && read_structure(bytes_.subspan(structure), tree.root);
  }

 private:
  bool read_reserved(FlatTree& tree) {
    for (usize at = big_endian(bytes_, 16); at + 16 <= bytes_.size(); at += 16) {
      const auto number = [&](usize from) {
        return u64{big_endian(bytes_, from)} << 32 | big_endian(bytes_, from + 4);
      };
      if (number(at) == 0 && number(at + 8) == 0) return true;
      tree.reserved.emplace_back(number(at), number(at + 8));
    }
    return false;
  }

  bool read_structure(std::span<const u8> structure, FlatNode& root) {
    std::vector<FlatNode> open;  // the nodes that have not ended, root first
    for (usize at = 0; at + 4 <= structure.size();) {
      const u32 token = big_endian(structure, at);
      at += 4;
      if (token == kBeginNode) {
        auto name = text_at(structure, at);
        if (!name || open.size() == kMaxDepth) return false;
        at += (name->size() + 4) & ~usize{3};
        open.push_back({std::move(*name), {}, {}});
      } else if (token == kEndNode) {
        if (open.empty()) return false;
        FlatNode done = std::move(open.back());
        open.pop_back();
        if (open.empty()) {
          root = std::move(done);
          return true;
        }
        open.back().children.push_back(std::move(done));
      } else if (token == kProperty) {
        if (open.empty() || at + 8 > structure.size()) return false;
        const usize length = big_endian(structure, at);
        auto name = text_at(strings_, big_endian(structure, at + 4));
        at += 8;
        if (!name || length > structure.size() - at) return false;
        const std::span<const u8> value = structure.subspan(at, length);
        open.back().properties.push_back({std::move(*name), {value.begin(), value.end()}});
        at += (length + 3) & ~usize{3};
      } else if (token != kNothing) {
        return false;
      }
    }
    return false;
  }

  std::span<const u8> bytes_;
  std::span<const u8> strings_;
};

class Writer {
 public:
  void node(const FlatNode& node) {
    cell(kBeginNode);
    text(node.name);
    for (const FlatProperty& property : node.properties) {
      cell(kProperty);
      cell(static_cast<u32>(property.value.size()));
      cell(name_offset(property.name));
      structure_.insert(structure_.end(), property.value.begin(), property.value.end());
      pad();
    }
    for (const FlatNode& child : node.children) this->node(child);
    cell(kEndNode);
  }

  std::vector<u8> finish(const std::vector<std::pair<u64, u64>>& reserved) {
    cell(kEnd);
    const usize structure = kHeaderBytes + (reserved.size() + 1) * 16;
    const usize strings = structure + structure_.size();
    std::vector<u8> all(strings + strings_.size());
    const u32 header[] = {kMagic,
                          static_cast<u32>(all.size()),
                          static_cast<u32>(structure),
                          static_cast<u32>(strings),
                          kHeaderBytes,
                          17,
                          16,
                          0,
                          static_cast<u32>(strings_.size()),
                          static_cast<u32>(structure_.size())};
    usize at = 0;
    const auto put = [&](u32 value) { put_big_endian(all, std::exchange(at, at + 4), value); };
    for (const u32 value : header) put(value);
    for (const auto& [start, size] : reserved) {
      for (const u64 number : {start, size}) {
        put(static_cast<u32>(number >> 32));
        put(static_cast<u32>(number));
      }
    }
    std::ranges::copy(structure_, all.begin() + static_cast<std::ptrdiff_t>(structure));
    std::ranges::copy(strings_, all.begin() + static_cast<std::ptrdiff_t>(strings));
    return all;
  }

 private:
  void cell(u32 value) {
    structure_.resize(structure_.size() + 4);
    put_big_endian(structure_, structure_.size() - 4, value);
  }
  void text(const std::string& what) {
    structure_.insert(structure_.end(), what.begin(), what.end());
    structure_.push_back(0);
    pad();
  }
  void pad() { structure_.resize((structure_.size() + 3) & ~usize{3}); }

  u32 name_offset(const std::string& name) {
    const auto [known, is_new] = names_.try_emplace(name, static_cast<u32>(strings_.size()));
    if (is_new) {
      strings_.insert(strings_.end(), name.begin(), name.end());
      strings_.push_back(0);
    }
    return known->second;
  }

  std::vector<u8> structure_;
  std::vector<u8> strings_;
  std::map<std::string, u32> names_;
};

}  // namespace

u32 big_endian(std::span<const u8> bytes, usize at) {
  return u32{bytes[at]} << 24 | u32{bytes[at + 1]} << 16 | u32{bytes[at + 2]} << 8 | u32{bytes[at + 3]};
}

void put_big_endian(std::span<u8> bytes, usize at, u32 value) {
  for (usize i = 0; i < 4; ++i) bytes[at + i] = static_cast<u8>(value >> (24 - 8 * i));
}

FlatProperty* FlatNode::find(const std::string& property_name) {
  const auto found = std::ranges::find(properties, property_name, &FlatProperty::name);
  return found == properties.end() ? nullptr : &*found;
}

FlatProperty& FlatNode::at(const std::string& property_name) {
  if (FlatProperty* found = find(property_name)) return *found;
  properties.push_back({property_name, {}});
  return properties.back();
}

usize FlatNode::node_count() const {
  usize count = 1;
  for (const FlatNode& child : children) count += child.node_count();
  return count;
}

std::optional<FlatTree> FlatTree::read(std::span<const u8> bytes) {
  FlatTree tree;
  if (!Reader(bytes).read(tree)) return std::nullopt;
  return tree;
}

std::vector<u8> FlatTree::write() const {
  Writer writer;
  writer.node(root);
  return writer.finish(reserved);
}

}  // namespace atl::fuzz
