#include "kernel/fdt_memory.hpp"

#include <libfdt.h>

#include <algorithm>

#include "lib/fault.hpp"

namespace atl {

using enum mm::ReservationKind;

/// Whether there is room for one more.
bool FdtMemory::count_entry() {
  if constexpr (kFault == Fault::memory_entries_unbounded) return true;
  return !too_many() && ++entries_ <= kMaxEntries;
}

/// Up to the entry of size 0 that ends it, or, where that is missing, as far as there are entries: libfdt's count
/// would be an error then, and all of them lost.
void FdtMemory::read_reservation_block(const void* fdt) {
  for (int i = 0;; ++i) {
    u64 start = 0;
    u64 size = 0;
    if (fdt_get_mem_rsv(fdt, i, &start, &size) != 0) {
      return notes_.note("the reservation block has no end; used as far as it goes");
    }
    if (size == 0 || !count_entry()) return;
    reserve({PhysAddr(start), std::min(size, ~u64{0} - start)}, firmware, "memreserve");
  }
}

void FdtMemory::read_bank(const FdtWalker& node) {
  if constexpr (kFault != Fault::disabled_memory_used) {
    if (!node.enabled()) {
      return notes_.note("{} is {}; ignored", ForeignText{node.name()}, ForeignText{node.status()});
    }
  }
  const usize count = node.reg_count();
  if (count == 0) notes_.note("{} has no usable reg", ForeignText{node.name()});
  for (usize i = 0; i < count && count_entry(); ++i) {
    if (const auto range = node.reg(i)) {
      add_ram(*range, node);
    } else {
      notes_.note("{} reg entry {} {}; ignored", ForeignText{node.name()}, i, range.error());
    }
  }
}

void FdtMemory::add_ram(PhysRange range, const FdtWalker& node) {
  if (range.empty()) return;  // a bank whose slot is empty: common, and no fault
  const auto added = memory_.add_ram(range);
  if (!added && added.error().error == Error::no_memory) {
    ++banks_left_out_;
  } else if (!added) {
    notes_.note("{}: {:#x} bytes at {} left out: {}", ForeignText{node.name()}, range.size, range.start,
                to_string(added.error().error));
  } else {
    has_ram_ = true;
  }
}

void FdtMemory::read_reserved(const FdtWalker& node) {
  if (!node.enabled()) return;
  const mm::ReservationKind kind = node.property("no-map").exists() ? no_map : reserved;
  if (!node.property("reg").exists()) {
    // A size alone asks the kernel to choose a place for a driver; there is no driver here to use it.
    return notes_.note("reserved-memory/{} has no address; ignored", ForeignText{node.name()});
  }
  for (usize i = 0; i < node.reg_count() && count_entry(); ++i) {
    if (const auto range = node.reg(i)) {
      reserve(*range, kind, node.name());
    } else {
      notes_.note("reserved-memory/{} reg entry {} {}; ignored", ForeignText{node.name()}, i, range.error());
    }
  }
}

void FdtMemory::reserve(PhysRange range, mm::ReservationKind kind, std::string_view name) {
  if (!range.empty() && memory_.overlaps(range, kernel)) {
    notes_.note("reservation {} of {:#x} bytes at {} overlaps the kernel image{}", ForeignText{name},
                range.size, range.start, kind == no_map ? "; its no-map is ignored there" : "");
  }
  memory_.reserve(range, kind, name);
}

const char* FdtMemory::registers_fault(PhysRange registers) const {
  if (registers.end() > mm::kPhysicalEnd) return "is beyond 52 bits";
  if constexpr (kFault == Fault::registers_over_kernel) return nullptr;
  if (memory_.overlaps(registers, kernel)) return "overlaps the kernel image";
  if (memory_.overlaps(registers, device_tree)) return "overlaps the device tree";
  return nullptr;
}

void FdtMemory::keep_registers_out(PhysRange registers, std::string_view device) {
  if constexpr (kFault == Fault::registers_left_in_ram) return;
  if (!memory_.overlaps_ram(registers)) return;
  notes_.note("the registers of the {} at {} lie inside a bank of RAM; kept out of it", device,
              registers.start);
  memory_.reserve(registers, no_map, device);
}

void FdtMemory::read_initrd(const FdtWalker& chosen) {
  const FdtProperty start_cells = chosen.property("linux,initrd-start");
  const FdtProperty end_cells = chosen.property("linux,initrd-end");
  if (!start_cells.exists() && !end_cells.exists()) return;
  // One or two cells, whatever the root's #address-cells: loaders differ.
  const auto start = start_cells.number(0, static_cast<u32>(start_cells.cell_count()));
  const auto end = end_cells.number(0, static_cast<u32>(end_cells.cell_count()));
  if (!start || !end || *end <= *start) return notes_.note("initrd range is empty or broken; ignored");
  initrd_ = {PhysAddr(*start), *end - *start};
}

/// Why the initrd cannot be what the tree says, or null.
const char* FdtMemory::initrd_fault() const {
  if constexpr (kFault == Fault::initrd_unchecked) return nullptr;
  if (!memory_.is_ram(initrd_)) return "does not lie in RAM";
  if (memory_.overlaps(initrd_, kernel)) return "overlaps the kernel image";
  if (memory_.overlaps(initrd_, device_tree)) return "overlaps the device tree";
  if (memory_.overlaps(initrd_, no_map)) return "overlaps memory that must not be mapped";
  return nullptr;
}

PhysRange FdtMemory::finish() {
  if (banks_left_out_ > 0) {
    notes_.note("{} banks of RAM beyond {} separate ones are left out", banks_left_out_,
                mm::MemoryMap::kMaxBanks);
  }
  if (memory_.joined_reservations() > 0) {
    notes_.note("{} reservations beyond {} are joined with a neighbour, the memory between them included",
                memory_.joined_reservations(), mm::MemoryMap::kMaxReservations);
  }
  if (initrd_.empty()) return {};
  if (const char* fault = initrd_fault()) {
    notes_.note("initrd at {}, {:#x} bytes, {}; ignored", initrd_.start, initrd_.size, fault);
    return {};
  }
  memory_.reserve(initrd_, initrd, "initrd");
  return initrd_;
}

}  // namespace atl
