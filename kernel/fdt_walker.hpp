// One pass over a flattened device tree that knows, at every node, the cell sizes, the address
// translation, the status and the interrupt parent that its ancestors give it. libfdt finds the tags
// and properties; this adds what the binding says of them (Devicetree Specification v0.4, chapter 2).
// One pass, because libfdt searches linearly: looking up each property of each node of 160 CPUs took a third of
// the boot under TCG. Pure. Not made for a tree that changes meanwhile.
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <string_view>

#include "lib/address.hpp"
#include "lib/types.hpp"

namespace atl {

/// A property's value: big-endian 32-bit cells, or text. Valid as long as the tree is mapped.
class FdtProperty {
 public:
  FdtProperty() = default;
  FdtProperty(const u8* data, usize size) : data_(data), size_(size) {}

  bool exists() const { return data_ != nullptr; }
  usize size() const { return size_; }
  usize cell_count() const { return size_ / 4; }
  u32 cell(usize index) const;
  /// The number in `cells` cells from `first`; nothing if they are not all there, or not 0 to 2.
  std::optional<u64> number(usize first, u32 cells) const;
  /// The text up to its NUL; an unterminated value is given whole, with `terminated` false.
  struct Text {
    std::string_view value;
    bool terminated;
  };
  Text text() const;
  /// Position of `word` in a list of NUL-terminated texts.
  std::optional<usize> index_in_list(std::string_view word) const;

 private:
  const u8* data_ = nullptr;
  usize size_ = 0;
};

class FdtWalker {
 public:
  /// Deeper nodes are passed over (`too_deep` counts them): real trees have at most 8 levels.
  static constexpr int kMaxDepth = 16;

  /// `fdt` has passed fdt_check_header() and is mapped up to its total size.
  explicit FdtWalker(const void* fdt) : fdt_(fdt) {}

  /// Moves to the next node, at first to the root; false at the end, or where the structure is `broken`.
  bool next();
  bool broken() const { return broken_; }

  int offset() const { return offset_; }
  int depth() const { return depth_; }  ///< 0 is the root
  unsigned too_deep() const { return too_deep_; }
  std::string_view name() const;
  FdtProperty property(const char* property_name) const;
  bool compatible(std::string_view with) const {
    return property("compatible").index_in_list(with).has_value();
  }
  /// "okay", "ok" or no status, here and at every ancestor.
  bool enabled() const { return levels_[depth_].enabled; }
  /// This node's own status; empty if it has none.
  std::string_view status() const { return property("status").text().value; }
  u32 interrupt_parent() const { return levels_[depth_].interrupt_parent; }
  /// True for a child of the root's child `parent_name` (depth 2).
  bool is_child_of(std::string_view parent_name) const {
    return depth_ == 2 && parent_name == level_one_name_;
  }

  /// How many whole (address, size) pairs `reg` has.
  usize reg_count() const;
  /// Pair `index` of `reg` in CPU addresses, through every `ranges` on the way up; or the reason why not.
  /// A range that would wrap around ends at 2^64 - 1: still too long for RAM, still a reservation.
  std::expected<PhysRange, const char*> reg(usize index) const;
  /// The first address of `reg` as it stands, with the parent's #address-cells: for CPUs.
  std::optional<u64> bare_reg() const;

 private:
  struct Level {
    u32 address_cells = 2;  // the specification's defaults for a node that does not say
    u32 size_cells = 1;
    FdtProperty ranges;
    u32 interrupt_parent = 0;
    bool enabled = true;
  };

  /// Properties of the current node, found in the pass; a node with more is looked up the slow way.
  struct NamedProperty {
    std::string_view name;
    FdtProperty value;
  };
  static constexpr usize kMaxProperties = 32;

  bool open_node(int offset);
  bool collect(int offset);
  void enter_level();
  std::expected<PhysRange, const char*> to_parent(const Level& bus, const Level& parent,
                                                  PhysRange range) const;

  const void* fdt_;
  int cursor_ = 0;           ///< offset of the next tag
  int nesting_ = -1;         ///< depth there, however deep
  bool collecting_ = false;  ///< between a node's start and its first child or end
  bool broken_ = false;

  int offset_ = -1;
  int depth_ = -1;
  unsigned too_deep_ = 0;
  std::array<NamedProperty, kMaxProperties> properties_{};
  usize property_count_ = 0;
  bool has_more_properties_ = false;
  std::string_view level_one_name_;
  std::array<Level, kMaxDepth> levels_{};
};

}  // namespace atl
