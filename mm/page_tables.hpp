// The one walker behind which all kernel mappings are made, for every granule (Arm ARM D8.2, D8.3).
//
// Header-only and free of global state: the early tables are built by the same code, at physical
// addresses with the MMU off, under a memory policy of their own. The caller serialises changes.
#pragma once

#include <array>
#include <optional>

#include "arch-arm64/geometry.hpp"
#include "mm/mapping.hpp"
#include "mm/table_memory.hpp"

namespace atl::mm {

/// Table memory whose upper levels exist in several copies. Entries at `kSyncLevel` and above are stored by
/// `install` alone, which orders and publishes; `admits` says whether a range may be changed at all.
template <class P>
concept SyncedTableMemory =
    TableMemory<P> && requires(P p, VirtRange range, VirtAddr va, arch::Descriptor d) {
      { P::kSyncLevel } -> std::convertible_to<int>;
      { p.admits(range) } -> std::same_as<Result<>>;
      { p.install(int{}, va, d) } -> std::same_as<void>;
    };

/// One translation tree with its root at `root()`, for one half of the VA space: which half is up to the
/// addresses its user passes. Every operation is all or nothing: it checks first, and `no_memory` is found
/// before the first change. Ranges are non-empty, page-aligned (`invalid_argument`) and in one half
/// (`out_of_range`).
template <class G, TableMemory Policy>
class PageTables {
 public:
  using Geometry = G;
  static constexpr int kPageLevel = arch::kPageLevel;

  constexpr PageTables(Policy policy, PhysAddr root) : policy_(policy), root_(root) {}
  /// A tree with an empty root of its own.
  static Result<PageTables> create(Policy policy) {
    return PageTables(policy, TRY(policy.allocate_table(G::kRootBytes)));
  }

  PhysAddr root() const { return root_; }

  /// Maps [va, va + size) to [pa, pa + size) by the largest blocks and contiguous runs that alignment,
  /// `limits` and tables already there allow. `already_exists` where anything in the range is valid.
  Result<> map(VirtAddr va, PhysAddr pa, u64 size, const arch::PageAttributes& attributes,
               const MapLimits& limits = {});

  /// Clears all leaves in `range`, and reports them to `sink`. `not_found` if a part is not mapped; `denied`
  /// if a block or a contiguous run lies only partly inside. Tables stay, for the next mapping.
  template <FlushSink S>
  Result<> unmap(VirtRange range, S& sink) {
    return unmap(range, sink, nullptr);
  }
  /// The same, and tables that this empties are unlinked (never one linked at the sync level or above)
  /// and added to `retired`: flush what the sink was told, then `free_tables`.
  template <FlushSink S>
  Result<> unmap(VirtRange range, S& sink, RetiredTables& retired) {
    return unmap(range, sink, &retired);
  }
  void free_tables(RetiredTables& retired) {
    while (!retired.empty()) policy_.free_table(retired.pop(policy_));
  }

  /// Changes what the leaves in `range` permit. Errors as `unmap`; also `invalid_argument` for another memory
  /// type or `global`, and `denied` for a leaf at the sync level, where entries never change in place.
  template <FlushSink S>
  Result<> protect(VirtRange range, const arch::PageAttributes& attributes, S& sink);

  /// The leaf that maps `va`.
  std::optional<Leaf> query(VirtAddr va) const;
  /// The table whose entries at `level` translate `va`.
  std::optional<PhysAddr> table_at(VirtAddr va, int level) const;

  /// Makes tables exist over `range` down to those at `level`, empty where new; `already_exists` where a
  /// block is in the way. `range` need not be aligned.
  Result<> ensure_tables(VirtRange range, int level) {
    if (!in_one_half(range)) return fail(Error::out_of_range);
    return build(range, {.deepest_level = level, .makes_leaves = false});
  }

  /// Installs `table`, whose entries are at `level`, as the one that translates the range around `va`.
  /// The table may be linked elsewhere too. Panics where another table or a block is linked.
  Result<> link_table(VirtAddr va, int level, PhysAddr table);

  /// Walks `range` (any alignment) read-only. A leaf that reaches beyond the range is reported whole.
  template <LeafVisitor V>
  void visit(VirtRange range, V& visitor) const {
    visit(root_, G::kRootLevel, range, visitor);
  }

 private:
  /// Cuts a range at the entries of one level. `Cursor c(level, range); while (c.next()) …`
  struct Cursor {
    constexpr Cursor(int level, VirtRange range) : level(level), rest(range) {}
    constexpr bool next() {
      rest = {rest.start + here.size, rest.size - here.size};
      const u64 entry = G::entry_bytes(level);
      const u64 to_boundary = entry - (rest.start.value() & (entry - 1));
      here = {rest.start, rest.size < to_boundary ? rest.size : to_boundary};
      index = G::index(here.start, level);
      return here.size != 0;
    }
    int level;
    VirtRange rest;  ///< from here to the end of the range
    VirtRange here;  ///< the part under this entry
    usize index = 0;
  };

  /// What `build` makes: leaves, or only tables down to `deepest_level`.
  struct Plan {
    u64 va_to_pa = 0;  ///< added to a VA, modulo 2^64
    arch::PageAttributes attributes{};
    MapLimits limits{};
    int deepest_level = kPageLevel;
    bool makes_leaves = true;

    PhysAddr pa(VirtAddr va) const { return PhysAddr(va.value() + va_to_pa); }
    bool leaf_fits(int level, VirtRange part) const {
      if (!makes_leaves || !G::may_be_leaf(level)) return false;
      const u64 bytes = G::entry_bytes(level);
      return level == kPageLevel ||
             (part.size == bytes && pa(part.start).is_aligned(bytes) && bytes <= limits.largest_leaf);
    }
    bool run_fits(int level, const Cursor& cursor, const arch::Descriptor* entries) const {
      const usize run = G::contiguous_entries(level);
      const u64 bytes = run * G::entry_bytes(level);
      if (run == 1 || !limits.contiguous || bytes > limits.largest_leaf || cursor.index % run != 0 ||
          cursor.rest.size < bytes || !pa(cursor.here.start).is_aligned(bytes)) {
        return false;
      }
      for (usize i = 0; i < run; ++i) {
        if (read_descriptor(entries[cursor.index + i]).is_valid()) return false;  // a table: descend there
      }
      return true;
    }
  };

  static bool in_one_half(VirtRange range) {
    if (range.empty()) return false;
    const VirtAddr last = range.start + (range.size - 1);
    const i64 half = static_cast<i64>(range.start.value()) >> G::kVaBits;
    return last >= range.start && static_cast<i64>(last.value()) >> G::kVaBits == half &&
           (half == 0 || half == -1);
  }
  static Result<> check_change(VirtRange range) {
    if (range.empty() || !range.start.is_aligned(G::kPageSize) || !is_aligned(range.size, G::kPageSize)) {
      return fail(Error::invalid_argument);
    }
    return in_one_half(range) ? Result<>() : fail(Error::out_of_range);
  }

  static constexpr bool is_synced([[maybe_unused]] int level) {
    if constexpr (SyncedTableMemory<Policy>) return level <= Policy::kSyncLevel;
    return false;
  }

  /// The one place where the walker stores into a table.
  void store(int level, VirtAddr va, arch::Descriptor& entry, arch::Descriptor value) {
    check_break_before_make(va, read_descriptor(entry), value);
    if constexpr (SyncedTableMemory<Policy>) {
      if (is_synced(level)) return policy_.install(level, va, value);
    }
    // Or a walker could follow the link and read what the table's memory held before.
    if (value.is_table(level)) policy_.publish_table();
    write_descriptor(entry, value);
  }

  bool is_empty(PhysAddr table, int level) const {
    const arch::Descriptor* entries = policy_.table(table);
    for (usize i = 0; i < G::entries(level); ++i) {
      if (read_descriptor(entries[i]).is_valid()) return false;
    }
    return true;
  }

  /// Tables below one that is not there yet: all arithmetic.
  static usize new_tables(int level, VirtRange range, const Plan& plan) {
    if (level == plan.deepest_level) return 0;
    usize count = 0;
    for (Cursor c(level, range); c.next();) {
      if (!plan.leaf_fits(level, c.here)) count += 1 + new_tables(level + 1, c.here, plan);
    }
    return count;
  }

  Result<usize> missing_tables(PhysAddr table, int level, VirtRange range, const Plan& plan) const {
    if (level == plan.deepest_level && !plan.makes_leaves) return 0;
    const arch::Descriptor* entries = policy_.table(table);
    usize count = 0;
    for (Cursor c(level, range); c.next();) {
      const arch::Descriptor entry = read_descriptor(entries[c.index]);
      if (entry.is_table(level)) {
        count += TRY(missing_tables(entry.address(), level + 1, c.here, plan));
      } else if (entry.is_valid()) {
        return fail(Error::already_exists);
      } else if (!plan.leaf_fits(level, c.here)) {
        count += 1 + new_tables(level + 1, c.here, plan);
      }
    }
    return count;
  }

  void fill(PhysAddr table, int level, VirtRange range, const Plan& plan, TableChain& reserve) {
    if (level == plan.deepest_level && !plan.makes_leaves) return;
    arch::Descriptor* entries = policy_.table(table);
    usize run_left = 0;
    for (Cursor c(level, range); c.next();) {
      const arch::Descriptor old = read_descriptor(entries[c.index]);
      if (old.is_table(level)) {
        fill(old.address(), level + 1, c.here, plan, reserve);
      } else if (plan.leaf_fits(level, c.here)) {
        if (run_left == 0 && plan.run_fits(level, c, entries)) run_left = G::contiguous_entries(level);
        store(level, c.here.start, entries[c.index],
              arch::Descriptor::leaf(level, plan.pa(c.here.start), plan.attributes, run_left != 0));
        if (run_left != 0) --run_left;
      } else {
        const PhysAddr child = reserve.pop(policy_);
        fill(child, level + 1, c.here, plan, reserve);
        store(level, c.here.start, entries[c.index], arch::Descriptor::table(child));
      }
    }
  }

  Result<> build(VirtRange range, const Plan& plan) {
    if constexpr (SyncedTableMemory<Policy>) TRY(policy_.admits(range));
    const usize missing = TRY(missing_tables(root_, G::kRootLevel, range, plan));
    TableChain reserve;
    while (reserve.count() < missing) {
      const Result<PhysAddr> table = policy_.allocate_table(G::kPageSize);
      if (!table) [[unlikely]] {
        free_tables(reserve);
        return std::unexpected(table.error());
      }
      reserve.push(policy_, *table);
    }
    fill(root_, G::kRootLevel, range, plan, reserve);
    policy_.publish_descriptor();
    return {};
  }

  /// That all of `part` is mapped by leaves and contiguous runs which lie inside `whole`.
  template <class Check>
  Result<> check_whole(PhysAddr table, int level, VirtRange part, VirtRange whole, Check check) const {
    const arch::Descriptor* entries = policy_.table(table);
    for (Cursor c(level, part); c.next();) {
      const arch::Descriptor entry = read_descriptor(entries[c.index]);
      if (entry.is_table(level)) {
        TRY(check_whole(entry.address(), level + 1, c.here, whole, check));
        continue;
      }
      if (!entry.is_valid()) return fail(Error::not_found);
      const u64 bytes = G::entry_bytes(level) * (entry.is_contiguous() ? G::contiguous_entries(level) : 1);
      if (!whole.contains(VirtRange{c.here.start.align_down(bytes), bytes})) return fail(Error::denied);
      TRY(check(level, entry));
    }
    return {};
  }

  /// Replaces every leaf in `range` by `next(level, leaf)`. All leaves of one table are reported as one
  /// range, unless a table lies between them.
  template <class Change, FlushSink S>
  void change(PhysAddr table, int level, VirtRange range, Change next, S& sink, RetiredTables* retired) {
    arch::Descriptor* entries = policy_.table(table);
    VirtRange changed;
    for (Cursor c(level, range); c.next();) {
      arch::Descriptor& entry = entries[c.index];
      const arch::Descriptor old = read_descriptor(entry);
      if (!old.is_table(level)) {
        store(level, c.here.start, entry, next(level, old));
        changed = {changed.empty() ? c.here.start : changed.start, changed.size + c.here.size};
        continue;
      }
      if (!changed.empty()) sink.cleared(changed, G::entry_bytes(level));
      changed = {};
      change(old.address(), level + 1, c.here, next, sink, retired);
      if (retired != nullptr && !is_synced(level) && is_empty(old.address(), level + 1)) {
        store(level, c.here.start, entry, arch::Descriptor());
        retired->push(policy_, old.address());
      }
    }
    if (!changed.empty()) sink.cleared(changed, G::entry_bytes(level));
  }

  template <FlushSink S>
  Result<> unmap(VirtRange range, S& sink, RetiredTables* retired) {
    TRY(check_change(range));
    if constexpr (SyncedTableMemory<Policy>) TRY(policy_.admits(range));
    TRY(check_whole(root_, G::kRootLevel, range, range, [](int, arch::Descriptor) { return Result<>(); }));
    const auto nothing = [](int, arch::Descriptor) { return arch::Descriptor(); };
    change(root_, G::kRootLevel, range, nothing, sink, retired);
    policy_.publish_descriptor();
    return {};
  }

  template <class V>
  void visit(PhysAddr table, int level, VirtRange range, V& visitor) const {
    const arch::Descriptor* entries = policy_.table(table);
    for (Cursor c(level, range); c.next();) {
      const arch::Descriptor entry = read_descriptor(entries[c.index]);
      if (!entry.is_valid()) continue;
      const u64 bytes = G::entry_bytes(level);
      const VirtAddr start = c.here.start.align_down(bytes);
      if (entry.is_table(level)) {
        if constexpr (requires { visitor.table(start, level + 1, entry.address()); }) {
          visitor.table(start, level + 1, entry.address());
        }
        visit(entry.address(), level + 1, c.here, visitor);
      } else {
        visitor.leaf(Leaf{start, entry.address(), bytes, level, entry.attributes(), entry.is_contiguous()});
      }
    }
  }

  [[no_unique_address]] mutable Policy policy_;
  PhysAddr root_;
};

template <class G, TableMemory Policy>
Result<> PageTables<G, Policy>::map(VirtAddr va, PhysAddr pa, u64 size,
                                    const arch::PageAttributes& attributes, const MapLimits& limits) {
  const VirtRange range{va, size};
  TRY(check_change(range));
  if (!pa.is_aligned(G::kPageSize)) return fail(Error::invalid_argument);
  const PhysAddr last_page = pa + (size - G::kPageSize);
  if (last_page < pa || arch::Descriptor::table(last_page).address() != last_page) {
    return fail(Error::out_of_range);
  }
  return build(range, {.va_to_pa = pa.value() - va.value(), .attributes = attributes, .limits = limits});
}

template <class G, TableMemory Policy>
Result<> PageTables<G, Policy>::link_table(VirtAddr va, int level, PhysAddr table) {
  const VirtRange covered{va.align_down(G::entry_bytes(level - 1)), G::entry_bytes(level - 1)};
  TRY(ensure_tables(covered, level - 1));
  arch::Descriptor* entries = policy_.table(*table_at(va, level - 1));
  store(level - 1, covered.start, entries[G::index(va, level - 1)], arch::Descriptor::table(table));
  policy_.publish_descriptor();
  return {};
}

template <class G, TableMemory Policy>
template <FlushSink S>
Result<> PageTables<G, Policy>::protect(VirtRange range, const arch::PageAttributes& attributes, S& sink) {
  TRY(check_change(range));
  if constexpr (SyncedTableMemory<Policy>) TRY(policy_.admits(range));
  TRY(check_whole(root_, G::kRootLevel, range, range, [&](int level, arch::Descriptor leaf) -> Result<> {
    const arch::PageAttributes old = leaf.attributes();
    if (old.type != attributes.type || old.global != attributes.global) return fail(Error::invalid_argument);
    return is_synced(level) ? fail(Error::denied) : Result<>();
  }));
  const auto next = [&](int level, arch::Descriptor leaf) {
    return arch::Descriptor::leaf(level, leaf.address(), attributes, leaf.is_contiguous());
  };
  change(root_, G::kRootLevel, range, next, sink, nullptr);
  policy_.publish_descriptor();
  return {};
}

template <class G, TableMemory Policy>
std::optional<Leaf> PageTables<G, Policy>::query(VirtAddr va) const {
  if (!in_one_half({va, 1})) return std::nullopt;
  PhysAddr table = root_;
  for (int level = G::kRootLevel; level <= kPageLevel; ++level) {
    const arch::Descriptor entry = read_descriptor(policy_.table(table)[G::index(va, level)]);
    if (!entry.is_valid()) return std::nullopt;
    if (!entry.is_table(level)) {
      const u64 bytes = G::entry_bytes(level);
      return Leaf{va.align_down(bytes), entry.address(),      bytes, level,
                  entry.attributes(),   entry.is_contiguous()};
    }
    table = entry.address();
  }
  return std::nullopt;
}

template <class G, TableMemory Policy>
std::optional<PhysAddr> PageTables<G, Policy>::table_at(VirtAddr va, int level) const {
  PhysAddr table = root_;
  for (int l = G::kRootLevel; l < level; ++l) {
    const arch::Descriptor entry = read_descriptor(policy_.table(table)[G::index(va, l)]);
    if (!entry.is_table(l)) return std::nullopt;
    table = entry.address();
  }
  return table;
}

}  // namespace atl::mm
