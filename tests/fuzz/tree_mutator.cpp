#include "tests/fuzz/tree_mutator.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutator_words.hpp"
#include "tests/fuzz/text_sink.hpp"

namespace atl::fuzz {
namespace {

struct Place {
  FlatNode* node;
  FlatNode* parent;  ///< null for the root
  std::string path;
};

class TreeMutator {
 public:
  TreeMutator(FlatTree& tree, Random& random, std::string& log) : tree_(tree), random_(random), log_(log) {}

  void once() {
    places_.clear();
    collect(tree_.root, nullptr, "");
    // A kind that finds nothing to change gives way to another.
    for (int attempt = 0; attempt < 20; ++attempt) {
      const std::string before = log_;
      if (!log_.empty()) log_ += "; ";
      if ((this->*random_.one_of(kKinds))()) return;
      log_ = before;
    }
  }

 private:
  using Kind = bool (TreeMutator::*)();

  bool flip_bits() {
    Place place;
    FlatProperty* property = choose_property(place);
    if (property == nullptr || property->value.empty()) return false;
    const usize count = 1 + random_.below(3);
    for (usize i = 0; i < count; ++i) {
      property->value[random_.below(property->value.size())] ^= static_cast<u8>(1u << random_.below(8));
    }
    return say("flip_bits {} {}", place.path, property->name);
  }

  bool set_number() {
    Place place;
    FlatProperty* property = choose_property(place);
    if (property == nullptr || property->value.size() < 4) return false;
    const usize cells = property->value.size() / 4;
    const u64 number = random_.one_of(kNumbers);
    const usize width = cells > 1 && (random_.percent(60) || number >> 32 != 0) ? 2 : 1;
    usize at = random_.below(cells - width + 1);
    if (width == 2 && random_.percent(70)) at &= ~usize{1};
    if (width == 2) put_big_endian(property->value, at * 4, static_cast<u32>(number >> 32));
    put_big_endian(property->value, (at + width - 1) * 4, static_cast<u32>(number));
    return say("set_number {} {} cell {} of {}: {:#x}", place.path, property->name, at, cells, number);
  }

  bool nudge_number() {
    Place place;
    FlatProperty* property = choose_property(place);
    if (property == nullptr || property->value.size() < 4) return false;
    const usize at = random_.below(property->value.size() / 4) * 4;
    const u32 by = static_cast<u32>(1 + random_.below(16)) << (random_.percent(50) ? 0 : random_.below(28));
    const u32 value = big_endian(property->value, at);
    const bool up = random_.percent(50);
    put_big_endian(property->value, at, up ? value + by : value - by);
    return say("nudge_number {} {} cell {}: {} {:#x}", place.path, property->name, at / 4, up ? "+" : "-",
               by);
  }

  bool borrow_value() {
    Place from;
    Place to;
    FlatProperty* giver = choose_property(from);
    if (giver == nullptr) return false;
    const FlatProperty lent = *giver;
    to = choose_node();
    // Of the same name where there is one: a wrong address is worse than a text in its place.
    FlatProperty* property = to.node->find(lent.name);
    if (property == nullptr) property = choose_property(to);
    if (property == nullptr) return false;
    property->value = lent.value;
    return say("borrow_value {} {} from {} {}", to.path, property->name, from.path, lent.name);
  }

  bool misplace() {
    std::vector<Place> choices;
    for (const Place& place : places_) {
      const FlatProperty* reg = place.node->find("reg");
      const bool has_range = reg != nullptr && reg->value.size() >= 16;
      if (has_range && std::ranges::find(kPlaced, stem(*place.node)) != kPlaced.end())
        choices.push_back(place);
    }
    if (choices.empty()) return false;
    const Place& place = random_.one_of(choices);
    std::vector<u8>& reg = place.node->find("reg")->value;
    // The start of an (address, size) pair of two cells each.
    const usize at = random_.below(reg.size() / 16) * 16;
    const u64 start = random_.one_of(kPlaces);
    put_big_endian(reg, at, static_cast<u32>(start >> 32));
    put_big_endian(reg, at + 4, static_cast<u32>(start));
    return say("misplace {} range {}: {:#x}", place.path, at / 16, start);
  }

  bool resize_value() {
    Place place;
    FlatProperty* property = choose_property(place);
    if (property == nullptr) return false;
    const usize sizes[] = {0,
                           1,
                           3,
                           4,
                           property->value.size() / 2,
                           property->value.size() - std::min<usize>(property->value.size(), 4),
                           property->value.size() + 1,
                           property->value.size() + 4,
                           property->value.size() * 2,
                           property->value.size() * 40};
    const usize size = std::min<usize>(random_.one_of(sizes), 65536);
    const std::vector<u8> pattern = property->value;
    property->value.resize(size);
    for (usize i = pattern.size(); i < size && !pattern.empty(); ++i) {
      property->value[i] = pattern[i % pattern.size()];
    }
    return say("resize_value {} {}: {} to {} bytes", place.path, property->name, pattern.size(), size);
  }

  bool drop_property() {
    Place place;
    FlatProperty* property = choose_property(place);
    if (property == nullptr) return false;
    say("drop_property {} {}", place.path, property->name);
    place.node->properties.erase(place.node->properties.begin() + (property - place.node->properties.data()));
    return true;
  }

  bool repeat_property() {
    Place place;
    FlatProperty* property = choose_property(place);
    if (property == nullptr) return false;
    say("repeat_property {} {}", place.path, property->name);
    const FlatProperty copy = *property;
    place.node->properties.insert(place.node->properties.begin() + static_cast<std::ptrdiff_t>(random_.below(
                                                                       place.node->properties.size())),
                                  copy);
    return true;
  }

  bool rename_property() {
    Place place;
    FlatProperty* property = choose_property(place);
    if (property == nullptr) return false;
    const std::string name = other_name(property->name);
    say("rename_property {} {}: {}", place.path, property->name, name);
    property->name = name;
    return true;
  }

  bool drop_node() {
    const Place place = choose_node();
    if (place.parent == nullptr) return false;
    say("drop_node {}", place.path);
    take_out(place);
    return true;
  }

  bool repeat_node() {
    const Place place = choose_node();
    if (place.parent == nullptr) return false;
    constexpr std::array<usize, 5> kTimes{1, 1, 3, 20, 200};
    const usize times = std::min(random_.one_of(kTimes), 4000 / place.node->node_count());
    const FlatNode copy = *place.node;
    for (usize i = 0; i < times; ++i) {
      FlatNode another = copy;
      if (random_.percent(80)) another.name = copy.name.substr(0, copy.name.find('@')) + unit(i + 0x77);
      place.parent->children.push_back(std::move(another));
    }
    return say("repeat_node {} {} times", place.path, times);
  }

  bool rename_node() {
    const Place place = choose_node();
    const std::string name = other_name(place.node->name);
    say("rename_node {}: {}", place.path, name);
    place.node->name = name;
    return true;
  }

  bool move_node() {
    const Place from = choose_node();
    if (from.parent == nullptr) return false;
    FlatNode moved = take_out(from);
    places_.clear();
    collect(tree_.root, nullptr, "");
    const Place to = choose_node();
    to.node->children.push_back(std::move(moved));
    return say("move_node {} to {}", from.path, to.path);
  }

  bool cell_sizes() {
    constexpr std::array<std::string_view, 4> kWhich{"#address-cells", "#size-cells", "#interrupt-cells",
                                                     "#redistributor-regions"};
    const Place place = choose_node();
    const std::string name(random_.one_of(kWhich));
    if (place.node->find(name) == nullptr && random_.percent(80)) return false;
    const u64 count = random_.one_of(kCellCounts);
    std::vector<u8>& value = place.node->at(name).value;
    value.resize(4);
    put_big_endian(value, 0, static_cast<u32>(count));
    return say("cell_sizes {} {}: {}", place.path, name, count);
  }

  bool set_word() {
    const Place place = choose_node();
    FlatProperty* property = place.node->find(std::string(random_.one_of(kWorded)));
    if (property == nullptr) property = &place.node->at("status");
    const std::string_view word = random_.one_of(kStates);
    set_text(*property, word);
    return say("set_word {} {}: {}", place.path, property->name, word);
  }

  bool add_memory() {
    FlatNode bank;
    bank.name = "memory" + unit(random_.below(0x100));
    set_text(bank.at("device_type"), "memory");
    std::vector<u8>& reg = bank.at("reg").value;
    const usize pairs = random_.percent(80) ? 1 : 1 + random_.below(200);
    const auto place = [&] { return random_.percent(70) ? random_.one_of(kNumbers) : random_.next(); };
    for (usize i = 0; i < pairs * 2; ++i) put_number(reg, place());
    tree_.root.children.push_back(std::move(bank));
    return say("add_memory of {} banks, the first {:#x} bytes at {:#x}", pairs, number(reg, 8),
               number(reg, 0));
  }

  bool add_reservation() {
    constexpr std::array<usize, 4> kCounts{1, 2, 40, 300};
    const usize count = random_.one_of(kCounts);
    const bool in_header = random_.percent(30);
    FlatNode* parent = nullptr;
    if (!in_header) {
      for (FlatNode& child : tree_.root.children) {
        if (child.name == "reserved-memory") parent = &child;
      }
      if (parent == nullptr) {
        parent = &tree_.root.children.emplace_back();
        parent->name = "reserved-memory";
        parent->at("#address-cells").value = {0, 0, 0, 2};
        parent->at("#size-cells").value = {0, 0, 0, 2};
        parent->at("ranges");
      }
    }
    const bool wild = count == 1 && random_.percent(60);
    for (usize i = 0; i < count; ++i) {
      // Hundreds that are each small leave room to boot in; a single one may take it all.
      const u64 start = wild ? random_.one_of(kNumbers) : 0x50000000 + (random_.next() & 0xffff123);
      const u64 size = wild ? random_.one_of(kNumbers) : 1 + (random_.next() & 0x3ffff);
      if (in_header) {
        tree_.reserved.emplace_back(start, size);
        continue;
      }
      FlatNode& node = parent->children.emplace_back();
      node.name = "taken" + unit(start);
      put_number(node.at("reg").value, start);
      put_number(node.at("reg").value, size);
      if (random_.percent(50)) node.at("no-map");
    }
    return say("add_reservation {} in {}", count, in_header ? "the header" : "reserved-memory");
  }

  bool boot_arguments() {
    FlatNode* chosen = nullptr;
    for (FlatNode& child : tree_.root.children) {
      if (child.name == "chosen") chosen = &child;
    }
    if (chosen == nullptr) return false;
    std::vector<u8>& value = chosen->at("bootargs").value;
    std::string text(value.begin(), value.end());
    if (!text.empty() && text.back() == '\0') text.pop_back();
    const usize words = 1 + random_.below(4);
    for (usize i = 0; i < words; ++i) {
      std::string word(random_.one_of(kWords));
      if (random_.percent(10)) word = std::string(1 + random_.below(3000), random_.percent(50) ? 'x' : '"');
      if (random_.percent(10)) word += static_cast<char>(random_.below(256));
      text = random_.percent(50) ? text + ' ' + word : word + ' ' + text;
    }
    value.assign(text.begin(), text.end());
    if (random_.percent(90)) value.push_back(0);
    return say("boot_arguments: {} bytes with {} more words", value.size(), words);
  }

  static constexpr Kind kKinds[] = {
      &TreeMutator::flip_bits,       &TreeMutator::set_number,    &TreeMutator::set_number,
      &TreeMutator::set_number,      &TreeMutator::nudge_number,  &TreeMutator::borrow_value,
      &TreeMutator::misplace,        &TreeMutator::misplace,      &TreeMutator::borrow_value,
      &TreeMutator::resize_value,    &TreeMutator::drop_property, &TreeMutator::repeat_property,
      &TreeMutator::rename_property, &TreeMutator::drop_node,     &TreeMutator::repeat_node,
      &TreeMutator::rename_node,     &TreeMutator::move_node,     &TreeMutator::cell_sizes,
      &TreeMutator::set_word,        &TreeMutator::add_memory,    &TreeMutator::add_reservation,
      &TreeMutator::boot_arguments,
  };

  template <class... Args>
  bool say(LocatedFormat<std::type_identity_t<Args>...> text, const Args&... args) {
    TextSink sink(log_);
    format(sink, text, args...);
    return true;
  }

  void collect(FlatNode& node, FlatNode* parent, const std::string& path) {
    const std::string own = parent == nullptr ? "/" : path + node.name;
    places_.push_back({&node, parent, own});
    for (FlatNode& child : node.children) collect(child, &node, parent == nullptr ? own : own + "/");
  }

  static std::string stem(const FlatNode& node) { return node.name.substr(0, node.name.find('@')); }

  /// First what sort of node, then which: 160 CPUs would hide everything else.
  const Place& choose_node() {
    std::map<std::string, std::vector<usize>> sorts;
    const bool only_read = random_.percent(70);
    for (usize i = 0; i < places_.size(); ++i) {
      const std::string sort = stem(*places_[i].node);
      if (!only_read || std::ranges::find(kRead, sort) != kRead.end()) sorts[sort].push_back(i);
    }
    if (sorts.empty()) return places_.front();
    const std::vector<usize>& chosen =
        std::next(sorts.begin(), static_cast<std::ptrdiff_t>(random_.below(sorts.size())))->second;
    return places_[random_.one_of(chosen)];
  }

  /// More often one that the kernel looks for than one that it does not.
  FlatProperty* choose_property(Place& place) {
    place = choose_node();
    std::vector<FlatProperty*> choices;
    const bool only_read = random_.percent(60);
    for (FlatProperty& property : place.node->properties) {
      if (!only_read || std::ranges::find(kNames, property.name) != kNames.end())
        choices.push_back(&property);
    }
    return choices.empty() ? nullptr : random_.one_of(choices);
  }

  std::string other_name(const std::string& name) {
    if (random_.percent(50)) return std::string(random_.one_of(kNames));
    std::string changed = name;
    switch (random_.below(4)) {
      case 0: return changed + "x";
      case 1: return changed.substr(0, changed.size() / 2);
      case 2: return std::string(200, 'n');
      default:
        if (!changed.empty())
          changed[random_.below(changed.size())] = static_cast<char>(1 + random_.below(255));
        return changed;
    }
  }

  static FlatNode take_out(const Place& place) {
    std::vector<FlatNode>& siblings = place.parent->children;
    FlatNode taken = std::move(*place.node);
    siblings.erase(siblings.begin() + (place.node - siblings.data()));
    return taken;
  }

  static std::string unit(u64 number) {
    std::string text = "@";
    TextSink sink(text);
    format(sink, "{:x}", number);
    return text;
  }
  static void set_text(FlatProperty& property, std::string_view text) {
    property.value.assign(text.begin(), text.end());
    property.value.push_back(0);
  }
  static void put_number(std::vector<u8>& value, u64 number) {
    value.resize(value.size() + 8);
    put_big_endian(value, value.size() - 8, static_cast<u32>(number >> 32));
    put_big_endian(value, value.size() - 4, static_cast<u32>(number));
  }
  static u64 number(const std::vector<u8>& value, usize at) {
    return u64{big_endian(value, at)} << 32 | big_endian(value, at + 4);
  }

  FlatTree& tree_;
  Random& random_;
  std::string& log_;
  std::vector<Place> places_;
};

}  // namespace

void change_tree(FlatTree& tree, Random& random, std::string& log) { TreeMutator(tree, random, log).once(); }

}  // namespace atl::fuzz
