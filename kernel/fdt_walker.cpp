#include "kernel/fdt_walker.hpp"

#include <libfdt.h>

#include <algorithm>
#include <span>

#include "lib/fault.hpp"

namespace atl {
namespace {

/// Each `reg` entry below a bus costs a search of its ranges. Real buses have a dozen or two.
constexpr usize kMaxRanges = kFault == Fault::ranges_unbounded ? ~usize{0} : 256;

constexpr const char* kNotMapped = "is not mapped into the CPUs' address space";

}  // namespace

u32 FdtProperty::cell(usize index) const {
  const u8* p = data_ + index * 4;
  return u32{p[0]} << 24 | u32{p[1]} << 16 | u32{p[2]} << 8 | u32{p[3]};
}

std::optional<u64> FdtProperty::number(usize first, u32 cells) const {
  if (cells > 2 || first > cell_count() || cells > cell_count() - first) return std::nullopt;
  u64 value = 0;
  for (u32 i = 0; i < cells; ++i) value = value << 32 | cell(first + i);
  return value;
}

FdtProperty::Text FdtProperty::text() const {
  if (!exists()) return {{}, true};
  const std::string_view all(reinterpret_cast<const char*>(data_), size_);
  const usize nul = all.find('\0');
  if (nul == std::string_view::npos) return {all, false};
  return {all.substr(0, nul), true};
}

std::optional<usize> FdtProperty::index_in_list(std::string_view word) const {
  if (!exists()) return std::nullopt;
  std::string_view rest(reinterpret_cast<const char*>(data_), size_);
  for (usize index = 0; !rest.empty(); ++index) {
    const usize nul = rest.find('\0');
    if (nul == std::string_view::npos) return std::nullopt;
    if (rest.substr(0, nul) == word) return index;
    rest.remove_prefix(nul + 1);
  }
  return std::nullopt;
}

/// A node is complete, its properties collected, where its first child begins or it ends: that tag is left for
/// the next call.
bool FdtWalker::next() {
  while (!broken_) {
    int after = 0;
    const u32 tag = fdt_next_tag(fdt_, cursor_, &after);
    if (after < 0) break;
    const bool ends_properties = tag != FDT_PROP && tag != FDT_NOP;
    if (collecting_ && ends_properties) {
      collecting_ = false;
      enter_level();
      return true;
    }
    if (tag == FDT_END) {
      broken_ = nesting_ != -1 || offset_ < 0;
      return false;
    }
    if (tag == FDT_BEGIN_NODE && !open_node(cursor_)) break;
    if (tag == FDT_END_NODE && nesting_-- < 0) break;  // ends a node that never began
    if (tag == FDT_PROP && collecting_ && !collect(cursor_)) break;
    cursor_ = after;
  }
  broken_ = true;
  return false;
}

bool FdtWalker::open_node(int offset) {
  const bool is_second_root = nesting_ < 0 && offset_ >= 0;
  if (is_second_root || fdt_get_name(fdt_, offset, nullptr) == nullptr) return false;
  if (++nesting_ >= kMaxDepth) {
    ++too_deep_;
    return true;
  }
  offset_ = offset;
  depth_ = nesting_;
  property_count_ = 0;
  has_more_properties_ = false;
  collecting_ = true;
  return true;
}

bool FdtWalker::collect(int offset) {
  const char* text = nullptr;
  int length = 0;
  const void* data = fdt_getprop_by_offset(fdt_, offset, &text, &length);
  if (data == nullptr || length < 0) return false;
  if (property_count_ == kMaxProperties) {
    has_more_properties_ = true;
  } else {
    properties_[property_count_++] = {text, {static_cast<const u8*>(data), static_cast<usize>(length)}};
  }
  return true;
}

void FdtWalker::enter_level() {
  Level level;
  if (depth_ > 0) {
    level.interrupt_parent = levels_[depth_ - 1].interrupt_parent;
    level.enabled = levels_[depth_ - 1].enabled;
  }
  const auto read = [&](const char* property_name, u32& into) {
    if (const FdtProperty p = property(property_name); p.cell_count() == 1) into = p.cell(0);
  };
  read("#address-cells", level.address_cells);
  read("#size-cells", level.size_cells);
  read("interrupt-parent", level.interrupt_parent);
  level.ranges = property("ranges");
  const std::string_view own_status = status();
  if (!own_status.empty() && own_status != "okay" && own_status != "ok") level.enabled = false;
  levels_[depth_] = level;
  if (depth_ == 1) level_one_name_ = name();
}

std::string_view FdtWalker::name() const {
  int length = 0;
  const char* text = fdt_get_name(fdt_, offset_, &length);
  return text == nullptr ? std::string_view() : std::string_view(text, static_cast<usize>(length));
}

FdtProperty FdtWalker::property(const char* property_name) const {
  const std::string_view wanted = property_name;
  for (const NamedProperty& p : std::span(properties_).first(property_count_)) {
    if (p.name == wanted) return p.value;
  }
  if (!has_more_properties_) return {};
  int length = 0;
  const void* data = fdt_getprop(fdt_, offset_, property_name, &length);
  if (data == nullptr || length < 0) return {};
  return {static_cast<const u8*>(data), static_cast<usize>(length)};
}

usize FdtWalker::reg_count() const {
  if (depth_ == 0) return 0;
  const Level& parent = levels_[depth_ - 1];
  const u64 cells = u64{parent.address_cells} + parent.size_cells;
  return cells == 0 ? 0 : static_cast<usize>(property("reg").cell_count() / cells);
}

std::expected<PhysRange, const char*> FdtWalker::reg(usize index) const {
  if (index >= reg_count()) return std::unexpected("has no such reg entry");
  const Level& bus = levels_[depth_ - 1];
  if (bus.address_cells == 0 || bus.address_cells > 2 || bus.size_cells == 0 || bus.size_cells > 2) {
    return std::unexpected("has a reg of unsupported cell sizes");
  }
  const FdtProperty reg = property("reg");
  const usize first = index * (bus.address_cells + bus.size_cells);
  PhysRange range{PhysAddr(*reg.number(first, bus.address_cells)),
                  *reg.number(first + bus.address_cells, bus.size_cells)};
  for (int level = depth_ - 1; level > 0; --level) {
    auto translated = to_parent(levels_[level], levels_[level - 1], range);
    if (!translated) return translated;
    range = *translated;
  }
  if constexpr (kFault != Fault::reg_wraps) range.size = std::min(range.size, ~u64{0} - range.start.value());
  return range;
}

std::expected<PhysRange, const char*> FdtWalker::to_parent(const Level& bus, const Level& parent,
                                                           PhysRange range) const {
  if (!bus.ranges.exists()) return std::unexpected(kNotMapped);
  if (bus.ranges.size() == 0) return range;  // an empty `ranges` is the identity
  const u64 entry_cells = u64{bus.address_cells} + parent.address_cells + bus.size_cells;
  if (entry_cells == 0) return std::unexpected(kNotMapped);  // or the loop would not advance
  const usize entries = std::min<usize>(bus.ranges.cell_count() / entry_cells, kMaxRanges);
  for (usize first = 0; first < entries * entry_cells; first += entry_cells) {
    const auto child = bus.ranges.number(first, bus.address_cells);
    const auto base = bus.ranges.number(first + bus.address_cells, parent.address_cells);
    const auto size = bus.ranges.number(first + bus.address_cells + parent.address_cells, bus.size_cells);
    if (!child || !base || !size) break;  // more than two cells: not a bus of memory addresses
    const u64 offset = range.start.value() - *child;
    if (range.start.value() < *child || offset >= *size || range.size > *size - offset) continue;
    if (*base > ~u64{0} - offset) break;
    return PhysRange{PhysAddr(*base + offset), range.size};
  }
  return std::unexpected(kNotMapped);
}

std::optional<u64> FdtWalker::bare_reg() const {
  if (depth_ == 0) return std::nullopt;
  const u32 cells = levels_[depth_ - 1].address_cells;
  return cells == 0 ? std::nullopt : property("reg").number(0, cells);
}

}  // namespace atl
