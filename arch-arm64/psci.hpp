// Power State Coordination Interface, as Atoll uses it (Arm DEN 0022): function numbers and errors.
#pragma once

#include "lib/fault.hpp"
#include "lib/result.hpp"

namespace atl::arch::psci {

/// Function identifiers of the SMC calling convention; bit 30 marks the 64-bit form.
inline constexpr u64 kVersion = 0x8400'0000;
inline constexpr u64 kSystemOff = 0x8400'0008;
inline constexpr u64 kCpuOn = 0xc400'0003;

/// What a function that is not there returns; so also what an EL2 returns that is not firmware (hw/el2.S).
inline constexpr i64 kNotSupported = -1;

/// What a call returned in x0. The value is a 32-bit signed number; the upper half of x0 is not defined.
constexpr Result<> to_result(u64 x0) {
  switch (static_cast<std::int32_t>(x0)) {
    case 0: return {};
    case kNotSupported: return fail(Error::not_supported);
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

struct Version {
  unsigned major = 0;
  unsigned minor = 0;
};

/// What PSCI_VERSION returned: 15 bits and 16 bits. The call came with PSCI 0.2, as did those above: whoever claims
/// less, or returns an error, is not to be called.
constexpr Result<Version> to_version(u64 x0) {
  if constexpr (kFault == Fault::psci_taken_on_trust) return Version{.major = 1};
  const auto value = static_cast<std::int32_t>(x0);
  if (value < 0) TRY(to_result(x0));
  if (value < 2) return fail(Error::bad_firmware_data);
  return Version{static_cast<unsigned>(value) >> 16, static_cast<unsigned>(value) & 0xffff};
}

}  // namespace atl::arch::psci
