// Pseudo-random numbers that are the same everywhere for the same seed (SplitMix64, Steele, Lea and Flood 2014).
#pragma once

#include <iterator>

#include "lib/types.hpp"

namespace atl::fuzz {

class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}

  u64 next() {
    u64 z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// 0 to `limit` - 1; `limit` is not 0.
  usize below(usize limit) { return static_cast<usize>(next() % limit); }
  bool percent(unsigned chance) { return below(100) < chance; }
  /// An element of a container or array that is not empty.
  template <class Choices>
  const auto& one_of(const Choices& choices) {
    return choices[below(std::size(choices))];
  }

 private:
  u64 state_;
};

}  // namespace atl::fuzz
