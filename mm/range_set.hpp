// A set of physical addresses, kept as ascending ranges that neither overlap nor touch, in a
// fixed array: what the memory map and the boot allocator need before there is any allocator.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "lib/address.hpp"
#include "lib/fault.hpp"
#include "lib/result.hpp"

namespace atl::mm {

/// The bytes that are in both ranges; empty (and at no particular place) if there are none.
constexpr PhysRange intersection(const PhysRange& a, const PhysRange& b) {
  const PhysAddr start = std::max(a.start, b.start);
  const PhysAddr end = std::min(a.end(), b.end());
  return start < end ? PhysRange{start, end - start} : PhysRange{};
}

/// The whole granules inside `range`.
constexpr PhysRange trimmed_inward(const PhysRange& range, u64 granule) {
  const PhysAddr start = range.start.align_up(granule);
  const PhysAddr end = range.end().align_down(granule);
  return start < end ? PhysRange{start, end - start} : PhysRange{};
}

/// Not synchronised. Ranges must not wrap; empty ones are accepted and change nothing.
template <usize Capacity>
class RangeSet {
 public:
  constexpr std::span<const PhysRange> ranges() const { return {entries_.data(), count_}; }
  constexpr bool empty() const { return count_ == 0; }

  constexpr u64 bytes() const {
    u64 total = 0;
    for (const PhysRange& entry : ranges()) total += entry.size;
    return total;
  }

  /// Whether every byte of `range` is in the set. Entries do not touch, so one of them must hold it all.
  constexpr bool contains(const PhysRange& range) const {
    return range.empty() ||
           std::ranges::any_of(ranges(), [&](const PhysRange& entry) { return entry.contains(range); });
  }

  /// Adds the bytes of `range`. `Error::no_memory` if that takes one entry too many; the set is
  /// then what it was.
  [[nodiscard]] constexpr Result<> insert(PhysRange range) {
    if (range.empty()) return {};
    usize first = 0;
    while (first < count_ && lies_below(entries_[first], range.start)) ++first;
    PhysAddr start = range.start;
    PhysAddr end = range.end();
    usize last = first;
    for (; last < count_ && entries_[last].start <= end; ++last) {
      start = std::min(start, entries_[last].start);
      end = std::max(end, entries_[last].end());
    }
    const PhysRange joined{start, end - start};
    return replace(first, last, {&joined, 1});
  }

  /// Takes out the bytes of `range`. Only a hole inside one entry takes a further entry;
  /// `Error::no_memory` if there is none, and the set is then what it was.
  [[nodiscard]] constexpr Result<> remove(PhysRange range) {
    if (range.empty()) return {};
    usize first = 0;
    while (first < count_ && entries_[first].end() <= range.start) ++first;
    std::array<PhysRange, 2> rest;
    usize kept = 0;
    usize last = first;
    for (; last < count_ && entries_[last].start < range.end(); ++last) {
      const PhysRange& entry = entries_[last];
      if (entry.start < range.start) rest[kept++] = {entry.start, range.start - entry.start};
      if (entry.end() > range.end()) rest[kept++] = {range.end(), entry.end() - range.end()};
    }
    return replace(first, last, {rest.data(), kept});
  }

  /// Takes out everything that is not in `range`.
  constexpr void keep_only(const PhysRange& range) {
    rewrite([&](const PhysRange& entry) { return intersection(entry, range); });
  }

  /// Shrinks every entry to the whole granules inside it.
  constexpr void trim(u64 granule) {
    rewrite([&](const PhysRange& entry) { return trimmed_inward(entry, granule); });
  }

 private:
  /// Below and not even touching, so that the two are not joined.
  static constexpr bool lies_below(const PhysRange& entry, PhysAddr start) {
    if constexpr (kFault == Fault::bank_overlap_unmerged) return entry.start < start;
    return entry.end() < start;
  }

  /// Puts `with` in the place of entries [first, last).
  constexpr Result<> replace(usize first, usize last, std::span<const PhysRange> with) {
    const usize count = count_ - (last - first) + with.size();
    if (count > Capacity) return fail(Error::no_memory);
    const auto tail = entries_.begin() + last;
    const auto end = entries_.begin() + count_;
    if (count > count_) {
      std::copy_backward(tail, end, entries_.begin() + count);
    } else {
      std::copy(tail, end, entries_.begin() + first + with.size());
    }
    std::copy(with.begin(), with.end(), entries_.begin() + first);
    count_ = count;
    return {};
  }

  template <class Shrink>
  constexpr void rewrite(Shrink shrink) {
    usize kept = 0;
    for (usize i = 0; i < count_; ++i) {
      const PhysRange smaller = shrink(entries_[i]);
      if (!smaller.empty()) entries_[kept++] = smaller;
    }
    count_ = kept;
  }

  std::array<PhysRange, Capacity> entries_{};
  usize count_ = 0;
};

}  // namespace atl::mm
