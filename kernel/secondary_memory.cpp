#include "kernel/secondary_memory.hpp"

#include <cstddef>

#include "kernel/image.hpp"
#include "mm/kernel_tables.hpp"
#include "percpu/cpu_number.hpp"

namespace atl {
namespace {

/// A unit with the template's content, reachable by the windows of all CPUs that have a root.
Result<> create_unit(unsigned cpu) {
  const u64 bytes = static_unit_bytes();
  const PhysAddr frames = TRY(mm::allocate_at_boot(bytes, arch::kPageSize));
  auto* unit = pointer_to<std::byte>(mm::phys_to_virt(frames));
  __builtin_memcpy(unit, __percpu_template, template_bytes());
  __builtin_memset(unit + template_bytes(), 0, bytes - template_bytes());
  TRY(mm::with_kernel_tables([&](mm::KernelTables& tables) -> Result<> {
    TRY(tables.roots.create_root(cpu));
    return tables.windows.create_unit(cpu, frames, bytes);
  }));
  percpu::cpu_number.on(cpu) = cpu;
  return {};
}

}  // namespace

VirtAddr idle_stack_top(unsigned cpu) { return mm::KernelLayout::stack(cpu).end(); }

Result<> map_idle_stack(unsigned cpu) {
  const VirtRange stack = mm::KernelLayout::stack(cpu);
  const PhysAddr frames = TRY(mm::allocate_at_boot(stack.size, arch::kPageSize));
  return mm::with_kernel_tables([&](mm::KernelTables& tables) {
    return tables.master().map(stack.start, frames, stack.size, arch::kKernelData, {.contiguous = false});
  });
}

Result<> prepare_secondaries(unsigned count) {
  for (unsigned cpu = 1; cpu < count; ++cpu) {
    TRY(create_unit(cpu));
    TRY(map_idle_stack(cpu));
  }
  return {};
}

}  // namespace atl
