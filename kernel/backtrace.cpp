#include "kernel/backtrace.hpp"

#include "kernel/ksymbols.hpp"
#include "lib/format.hpp"

namespace atl {
namespace {

struct FrameRecord {
  u64 next;
  u64 return_address;
};

void print_line(const char* label, u64 address, VirtAddr looked_up) {
  if (const auto symbol = kernel_symbols().find(looked_up)) {
    print("{}{:#018x} {}+{:#x}\n", label, address, symbol->name,
          symbol->offset + (address - looked_up.value()));
  } else {
    print("{}{:#018x}\n", label, address);
  }
}

}  // namespace

usize walk_frame_records(VirtAddr frame_pointer, std::span<const VirtRange> stacks,
                         std::span<u64> return_addresses) {
  usize count = 0;
  const VirtRange* stack = nullptr;
  u64 left = 0;  // a bit for each stack that the chain has been on and left
  VirtAddr at = frame_pointer;
  while (count < return_addresses.size() && at.is_aligned(8)) {
    const VirtRange record{at, sizeof(FrameRecord)};
    if (stack == nullptr || !stack->contains(record)) {
      if (stack != nullptr) left |= u64{1} << (stack - stacks.data());
      stack = nullptr;
      for (const VirtRange& candidate : stacks) {
        const bool was_left = (left >> (&candidate - stacks.data()) & 1) != 0;
        if (!was_left && candidate.contains(record)) stack = &candidate;
      }
      if (stack == nullptr) break;
    }
    const auto& [next, return_address] = *pointer_to<const FrameRecord>(at);
    if (return_address == 0) break;
    return_addresses[count++] = return_address;
    // Within a stack the chain ascends; onto another one it may go anywhere, once.
    if (stack->contains(VirtAddr(next)) && VirtAddr(next) <= at) break;
    at = VirtAddr(next);
  }
  return count;
}

void print_code_address(const char* label, VirtAddr address) { print_line(label, address.value(), address); }

void print_backtrace(std::span<const u64> return_addresses) {
  for (const u64 address : return_addresses) print_line("  ", address, VirtAddr(address - 1));
}

}  // namespace atl
