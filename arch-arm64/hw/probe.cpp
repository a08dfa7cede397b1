// An access that may fault.
#include "arch-arm64/hw/fixup.hpp"
#include "arch/mmu.hpp"

namespace atl::arch {

std::optional<u32> probe_read(VirtAddr va) {
  u64 value = 0;
  u64 done = 0;
  // A fault resumes behind the load, where `done` is still 0.
  asm volatile(
      "0: ldr %w[value], [%[address]]\n"
      "   mov %[done], #1\n"
      "1:\n" ATOLL_FIXUP("0b", "1b")
      : [value] "+&r"(value), [done] "+&r"(done)
      : [address] "r"(va.value())
      : "memory");
  if (done == 0) return std::nullopt;
  return static_cast<u32>(value);
}

bool probe_write(VirtAddr va, u32 value) {
  u64 done = 0;
  asm volatile(
      "0: str %w[value], [%[address]]\n"
      "   mov %[done], #1\n"
      "1:\n" ATOLL_FIXUP("0b", "1b")
      : [done] "+&r"(done)
      : [value] "r"(value), [address] "r"(va.value())
      : "memory");
  return done != 0;
}

}  // namespace atl::arch
