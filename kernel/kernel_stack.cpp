#include "kernel/kernel_stack.hpp"

#include <array>
#include <cstddef>

#include "percpu/percpu.hpp"

namespace atl {

struct alignas(16) EmergencyStack {
  std::array<std::byte, arch::kEmergencyStackBytes> bytes;
};

/// Its end is what the vectors know, as `percpu_emergency_stack_top` (arch-arm64/hw/kernel.ld.S).
extern "C" {
ATOLL_PER_CPU percpu::PerCpu<EmergencyStack> percpu_emergency_stack;
}

}  // namespace atl
