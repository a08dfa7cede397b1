// arch/cpu.hpp on the machine: what is more than a few instructions.
#include "arch/cpu.hpp"

#include "arch-arm64/hw/sysreg.hpp"
#include "arch-arm64/id_registers.hpp"
#include "arch-arm64/mpidr.hpp"

namespace atl::arch {

void halt() {
  asm volatile("msr daifset, #0xf" ::: "memory");
  for (;;) wait_for_interrupt();
}

CpuFeatures read_cpu_features() {
  return {.lse = has_lse(ATOLL_READ_SYSREG("id_aa64isar0_el1")),
          .common_not_private = has_common_not_private(ATOLL_READ_SYSREG("id_aa64mmfr2_el1")),
          .multithreaded = is_multithreaded(mpidr()),
          .physical_bits = output_address_bits(ATOLL_READ_SYSREG("id_aa64mmfr0_el1"))};
}

}  // namespace atl::arch
