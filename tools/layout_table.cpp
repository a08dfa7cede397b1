// Prints the tables of docs/memory-layout.md from the header that the kernel is built with.
// Lint compares them (tests/lint/rules/layout.py).
#include <cstdio>
#include <initializer_list>
#include <string>

#include "mm/layout.hpp"

using namespace atl;

namespace {

std::string in_units(u64 bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  unsigned unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + " " + units[unit];
}

std::string address(VirtAddr va) {
  char text[24];
  const unsigned long long v = va.value();
  std::snprintf(text, sizeof text, "%04llx_%04llx_%04llx_%04llx", v >> 48, v >> 32 & 0xffff, v >> 16 & 0xffff,
                v & 0xffff);
  return text;
}

template <class G>
std::string name() {
  return std::string(to_string(G::kGranule)) + "/" + std::to_string(G::kVaBits);
}

template <class G>
void shape_row() {
  using L = mm::Layout<G>;
  const int depth = L::kSyncLevel - G::kRootLevel;
  std::printf("| %s | %zu | %s | %s | %s |\n", name<G>().c_str(), G::kRootEntries,
              in_units(L::kSlotBytes).c_str(), depth == 0 ? "root" : "second",
              in_units(L::kUnitBytes).c_str());
}

template <class G>
void regions() {
  using L = mm::Layout<G>;
  struct Row {
    const char* name;
    VirtRange range;
  };
  std::printf("\n### %s\n\n| region | start | size |\n|---|---|---|\n", name<G>().c_str());
  for (const Row& row : std::initializer_list<Row>{{"linear map", L::kLinear},
                                                   {"KASAN shadow", L::kShadow},
                                                   {"vmemmap", L::kVmemmap},
                                                   {"vmalloc", L::kVmalloc},
                                                   {"kernel stacks (in vmalloc)", L::kStacks},
                                                   {"fixed: fixmap, devices", L::kFixed},
                                                   {"global window", L::kGlobal},
                                                   {"local window", L::kLocal},
                                                   {"kernel image", L::kImage}}) {
    std::printf("| %s | `%s` | %s |\n", row.name, address(row.range.start).c_str(),
                in_units(row.range.size).c_str());
  }
}

}  // namespace

int main() {
  using arch::Geometry;
  using arch::Granule;
  std::printf(
      "| granule/VA bits | root entries | a slot covers | sync level | unit |\n|---|---|---|---|---|\n");
  shape_row<Geometry<Granule::k4K, 39>>();
  shape_row<Geometry<Granule::k4K, 48>>();
  shape_row<Geometry<Granule::k4K, 52>>();
  shape_row<Geometry<Granule::k16K, 36>>();
  shape_row<Geometry<Granule::k16K, 47>>();
  shape_row<Geometry<Granule::k16K, 48>>();
  shape_row<Geometry<Granule::k16K, 52>>();
  shape_row<Geometry<Granule::k64K, 42>>();
  shape_row<Geometry<Granule::k64K, 48>>();
  shape_row<Geometry<Granule::k64K, 52>>();
  regions<Geometry<Granule::k4K, 48>>();
  regions<Geometry<Granule::k4K, 39>>();
  regions<Geometry<Granule::k16K, 47>>();
  regions<Geometry<Granule::k64K, 48>>();
}
