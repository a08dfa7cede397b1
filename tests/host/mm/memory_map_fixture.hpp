// What the memory map tests share: ranges by their ends, and what a map gives as lists.
#pragma once

#include "mm/memory_map.hpp"

#include <array>
#include <vector>

namespace atl::mm {

constexpr PhysRange range(u64 start, u64 end) { return {PhysAddr(start), end - start}; }
inline constexpr PhysAddr k48Bits = PhysAddr(u64{1} << 48);
inline constexpr std::array<u64, 3> kPageSizes{4_KiB, 16_KiB, 64_KiB};

constexpr MapRules rules(u64 page_size) { return {page_size, 256_GiB, k48Bits}; }

inline std::vector<PhysRange> ram_of(const MemoryMap& map) { return {map.ram().begin(), map.ram().end()}; }
inline std::vector<PhysRange> mappable_of(const MemoryMap& map) {
  std::vector<PhysRange> found;
  map.for_each_mappable([&](const PhysRange& r) { found.push_back(r); });
  return found;
}
inline std::vector<PhysRange> free_of(const MemoryMap& map) {
  std::vector<PhysRange> found;
  map.for_each_free([&](const PhysRange& r) { found.push_back(r); });
  return found;
}

}  // namespace atl::mm
