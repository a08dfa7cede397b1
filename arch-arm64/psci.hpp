// Power State Coordination Interface, as Atoll uses it (Arm DEN 0022): function numbers and errors.
#pragma once

#include "lib/result.hpp"

namespace atl::arch::psci {

/// Function identifiers of the SMC calling convention; bit 30 marks the 64-bit form.
inline constexpr u64 kSystemOff = 0x8400'0008;
inline constexpr u64 kCpuOn = 0xc400'0003;

/// What a call returned in x0. The value is a 32-bit signed number; the upper half of x0 is not defined.
constexpr Result<> to_result(u64 x0) {
  switch (static_cast<std::int32_t>(x0)) {
    case 0: return {};
    case -1: return fail(Error::not_supported);
    case -2: return fail(Error::invalid_argument);  // INVALID_PARAMETERS
    case -3: return fail(Error::denied);
    case -4: return fail(Error::already_exists);     // ALREADY_ON
    case -5: return fail(Error::already_exists);     // ON_PENDING
    case -7: return fail(Error::not_found);          // NOT_PRESENT
    case -8: return fail(Error::denied);             // DISABLED
    case -9: return fail(Error::invalid_argument);   // INVALID_ADDRESS
    default: return fail(Error::bad_firmware_data);  // INTERNAL_FAILURE, and what PSCI does not define
  }
}

}  // namespace atl::arch::psci
