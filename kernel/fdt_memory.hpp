// RAM and what is withheld from it, as a device tree tells it: memory nodes, /memreserve/, /reserved-memory, the
// initrd, and registers that a bank covers. Pure, as kernel/device_tree.hpp says.
#pragma once

#include "kernel/fdt_notes.hpp"
#include "kernel/fdt_walker.hpp"
#include "mm/memory_map.hpp"

namespace atl {

class FdtMemory {
 public:
  /// Banks and reservations of one tree: each costs a search of the bus's ranges and of the memory map.
  static constexpr usize kMaxEntries = 4096;

  /// `memory` holds the reservations of kernel image and tree already: they are what others are compared with.
  FdtMemory(mm::MemoryMap& memory, FdtNotes& notes) : memory_(memory), notes_(notes) {}

  /// /memreserve/: a block of its own, beside the nodes.
  void read_reservation_block(const void* fdt);
  /// A memory node.
  void read_bank(const FdtWalker& node);
  /// A child of /reserved-memory.
  void read_reserved(const FdtWalker& node);
  /// Of /chosen. Whether it can be used is known when all RAM is.
  void read_initrd(const FdtWalker& chosen);
  /// Why a device's registers cannot be where the tree says, or null: what is written to them must go neither beyond
  /// what a descriptor can map nor over the kernel or the tree.
  const char* registers_fault(PhysRange registers) const;

  // When all nodes have been seen:

  bool has_ram() const { return has_ram_; }
  /// There are more than kMaxEntries. Some are not reserved, so the tree cannot be used.
  bool too_many() const { return entries_ > kMaxEntries; }
  /// Registers that the kernel will use are no RAM, whatever a bank says.
  void keep_registers_out(PhysRange registers, std::string_view device);
  /// Says what did not fit. Reserves the initrd and gives where it is; empty if there is none that can be used.
  PhysRange finish();

 private:
  bool count_entry();
  void add_ram(PhysRange range, const FdtWalker& node);
  void reserve(PhysRange range, mm::ReservationKind kind, std::string_view name);
  const char* initrd_fault() const;

  mm::MemoryMap& memory_;
  FdtNotes& notes_;
  bool has_ram_ = false;
  usize entries_ = 0;
  u64 banks_left_out_ = 0;
  PhysRange initrd_;
};

}  // namespace atl
