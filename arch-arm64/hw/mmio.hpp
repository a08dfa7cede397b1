// Device registers. Each access is one LDR or STR with a plain base register: a hypervisor that
// emulates the device decodes no other form (ESR_EL2.ISV = 0 for writeback and pairs).
#pragma once

#include "lib/address.hpp"

namespace atl::arch {

/// Registers mapped as device memory (nGnRE): accesses to one block arrive in program order.
class RegisterBlock {
 public:
  constexpr RegisterBlock() = default;
  constexpr explicit RegisterBlock(VirtAddr base) : base_(base) {}

  /// The block `offset` bytes further on.
  constexpr RegisterBlock at(u64 offset) const { return RegisterBlock(base_ + offset); }
  constexpr bool is_mapped() const { return base_ != VirtAddr(); }

  u32 read32(u64 offset) const {
    u32 value;
    asm volatile("ldr %w0, [%1]" : "=r"(value) : "r"(address(offset)) : "memory");
    return value;
  }
  u64 read64(u64 offset) const {
    u64 value;
    asm volatile("ldr %0, [%1]" : "=r"(value) : "r"(address(offset)) : "memory");
    return value;
  }
  void write8(u64 offset, u8 value) const {
    asm volatile("strb %w0, [%1]" ::"rZ"(value), "r"(address(offset)) : "memory");
  }
  void write32(u64 offset, u32 value) const {
    asm volatile("str %w0, [%1]" ::"rZ"(value), "r"(address(offset)) : "memory");
  }
  void write64(u64 offset, u64 value) const {
    asm volatile("str %x0, [%1]" ::"rZ"(value), "r"(address(offset)) : "memory");
  }

 private:
  u64 address(u64 offset) const { return (base_ + offset).value(); }

  VirtAddr base_;
};

}  // namespace atl::arch
