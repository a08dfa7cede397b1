// What can end the boot before the MMU is on, said on the documented UART. head.S calls all of this.
#include "arch-arm64/documented_uart.hpp"
#include "arch-arm64/id_registers.hpp"
#include "arch/cpu.hpp"

namespace atl::arch {
namespace {

constexpr Granule kGranule = KernelGeometry::kGranule;

/// At physical addresses, so there is nothing of it in any other file.
class EarlyConsole {
 public:
  void write(const char* text) {
    for (; *text != '\0'; ++text) {
      if (*text == '\n') put('\r');
      put(*text);
    }
  }
  /// The low four bits as one digit, upper case.
  void write_hex_digit(u64 value) {
    const u64 digit = value & 0xf;
    put(static_cast<char>(digit < 10 ? '0' + digit : 'A' + digit - 10));
  }

 private:
  static constexpr u64 kFlags = 0x18;
  static constexpr u32 kTransmitFull = 1 << 5;
  static constexpr unsigned kTurns = 100'000;

  static volatile u32& reg(u64 offset) {
    return *reinterpret_cast<volatile u32*>(kDocumentedUart.value() + offset);
  }

  void put(char c) {
    for (unsigned turn = 0; turn < kTurns && (reg(kFlags) & kTransmitFull) != 0; ++turn) {
    }
    reg(0) = static_cast<u8>(c);
  }
};

/// Where a debugger finds the CPU. Everything is masked, so no interrupt takes it out of here.
[[noreturn]] void stop() {
  for (;;) wait_for_interrupt();
}

[[noreturn]] void refuse(u64 mmfr0) {
  EarlyConsole console;
  console.write("atoll: this CPU has no ");
  console.write(to_string(kGranule));
  console.write(" granule (ID_AA64MMFR0_EL1.");
  console.write(granule_field_name(kGranule));
  console.write(" = ");
  console.write_hex_digit(granule_field(mmfr0, kGranule));
  console.write("); stopped\n");
  stop();
}

}  // namespace

// A CPU without the granule would walk the tables as some other one without a word, so the refusal has to come
// before the MMU is on.
extern "C" bool early_granule_supported(u64 mmfr0) { return granule_supported(mmfr0, kGranule); }

extern "C" void early_require_granule(u64 mmfr0) {
  if (!granule_supported(mmfr0, kGranule)) refuse(mmfr0);
}

/// Whoever enters us there has no firmware: interrupts are not given to the Non-secure world, and nobody starts CPUs.
extern "C" [[noreturn]] void early_stop_at_el3() {
  EarlyConsole().write("atoll: entered at EL3, where firmware belongs, not a kernel; stopped\n");
  stop();
}

/// `early_map_kernel` gave up.
extern "C" [[noreturn]] void early_stop_without_tables() {
  EarlyConsole().write("atoll: the early table pool is too small; stopped\n");
  stop();
}

}  // namespace atl::arch
