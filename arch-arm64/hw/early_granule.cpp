// Whether this CPU can run an image of this page size, decided with the MMU off. A CPU without the granule
// would walk the tables as some other one without a word, so the refusal has to come before.
#include "arch-arm64/hw/early_console.hpp"
#include "arch-arm64/id_registers.hpp"
#include "arch/cpu.hpp"

namespace atl::arch {
namespace {

constexpr Granule kGranule = KernelGeometry::kGranule;

[[noreturn]] void refuse(u64 mmfr0) {
  EarlyConsole console;
  console.write("atoll: this CPU has no ");
  console.write(to_string(kGranule));
  console.write(" granule (ID_AA64MMFR0_EL1.");
  console.write(granule_field_name(kGranule));
  console.write(" = ");
  console.write_hex_digit(granule_field(mmfr0, kGranule));
  console.write("); stopped\n");
  for (;;) wait_for_interrupt();
}

}  // namespace

extern "C" bool early_granule_supported(u64 mmfr0) { return granule_supported(mmfr0, kGranule); }

extern "C" void early_require_granule(u64 mmfr0) {
  if (!granule_supported(mmfr0, kGranule)) refuse(mmfr0);
}

}  // namespace atl::arch
