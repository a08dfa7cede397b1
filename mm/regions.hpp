// Names for the parts of the kernel's address space, for counters and for the page-table dump.
#pragma once

#include <array>

#include "lib/address.hpp"

namespace atl::mm {

enum class Region : u8 { linear, shadow, vmemmap, vmalloc, fixed, global_window, local_window, image, other };
inline constexpr usize kRegionCount = static_cast<usize>(Region::other) + 1;

constexpr const char* to_string(Region region) {
  constexpr std::array<const char*, kRegionCount> kNames{
      "linear map",   "KASAN shadow",       "vmemmap", "vmalloc", "fixed", "global window", "local window",
      "kernel image", "between the regions"};
  return kNames[static_cast<usize>(region)];
}

struct RegionRange {
  Region region;
  VirtRange range;
};

/// All regions of a `mm::Layout`, ascending and disjoint.
template <class L>
inline constexpr std::array<RegionRange, kRegionCount - 1> kRegions{{{Region::linear, L::kLinear},
                                                                     {Region::shadow, L::kShadow},
                                                                     {Region::vmemmap, L::kVmemmap},
                                                                     {Region::vmalloc, L::kVmalloc},
                                                                     {Region::fixed, L::kFixed},
                                                                     {Region::global_window, L::kGlobal},
                                                                     {Region::local_window, L::kLocalSlots},
                                                                     {Region::image, L::kImage}}};

template <class L>
constexpr Region region_of(VirtAddr va) {
  for (const RegionRange& r : kRegions<L>) {
    if (r.range.contains(va)) return r.region;
  }
  return Region::other;
}

}  // namespace atl::mm
