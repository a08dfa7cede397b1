// System registers by name. Names that old assemblers lack are spelt by encoding, S3_0_C12_C12_0.
#pragma once

#include "lib/types.hpp"

/// `ATOLL_READ_SYSREG("cntvct_el0")`. Neither removed nor reordered against other volatile accesses.
#define ATOLL_READ_SYSREG(name)                            \
  ({                                                       \
    ::atl::u64 atoll_value;                              \
    asm volatile("mrs %0, " name : "=r"(atoll_value));     \
    atoll_value;                                           \
  })

/// Not self-synchronising: follow it with an ISB where the effect matters to the next instruction.
#define ATOLL_WRITE_SYSREG(name, value) \
  asm volatile("msr " name ", %x0" ::"rZ"(static_cast<::atl::u64>(value)) : "memory")
