// A set of logical CPU numbers, as wide as any configuration allows (160 do not fit a word).
#pragma once

#include <array>
#include <bit>

#include "lib/config.hpp"
#include "lib/types.hpp"

namespace atl {

/// Numbers given to `first`, `of`, `add` and `remove` are below kMaxCpus (a count: at most).
class CpuSet {
 public:
  constexpr CpuSet() = default;
  /// {0, …, count - 1}.
  static constexpr CpuSet first(unsigned count) {
    CpuSet set;
    for (unsigned cpu = 0; cpu < count; ++cpu) set.add(cpu);
    return set;
  }
  static constexpr CpuSet of(unsigned cpu) {
    CpuSet set;
    set.add(cpu);
    return set;
  }

  constexpr void add(unsigned cpu) { words_[cpu / 64] |= u64{1} << (cpu % 64); }
  constexpr void remove(unsigned cpu) { words_[cpu / 64] &= ~(u64{1} << (cpu % 64)); }
  constexpr bool contains(unsigned cpu) const {
    return cpu < kMaxCpus && (words_[cpu / 64] >> (cpu % 64) & 1) != 0;
  }
  constexpr unsigned count() const {
    unsigned total = 0;
    for (u64 word : words_) total += static_cast<unsigned>(std::popcount(word));
    return total;
  }
  constexpr bool empty() const { return *this == CpuSet(); }

  /// Calls `visit(cpu)` in ascending order.
  template <class Visit>
  constexpr void for_each(Visit visit) const {
    for (unsigned w = 0; w < words_.size(); ++w) {
      for (u64 word = words_[w]; word != 0; word &= word - 1) {
        visit(w * 64 + static_cast<unsigned>(std::countr_zero(word)));
      }
    }
  }

  friend constexpr bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  std::array<u64, kMaxCpus / 64> words_{};
};

}  // namespace atl
