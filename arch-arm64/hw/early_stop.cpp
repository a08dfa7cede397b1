// What can end the boot before the MMU is on, said on the documented UART. head.S and kernel/early_map.cpp call it.
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
  void write_address(u64 value) {
    write_hex_digit(0);
    put('x');
    for (unsigned shift = 60;; shift -= 4) {
      write_hex_digit(value >> shift);
      if (shift == 0) return;
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

/// Where this runs: what adr gives does not depend on how the image is aligned. Of adrp only a part moves with it, so
/// off a 4 KiB boundary every address that adrp makes is wrong, of a text too. Hence the text beside the code.
u64 load_address() {
  u64 address;
  asm("adr %0, _start" : "=r"(address));
  return address;
}
asm(R"(
  .pushsection .text.early_text, "ax"
early_misplaced:
  .asciz "atoll: "
early_misplaced_why:
  .asciz ": the image must not be loaded there: the boot protocol asks for a multiple of 2 MiB; stopped\n"
  .balign 4
  .popsection
)");

[[noreturn]] void refuse_place(u64 address) {
  const char* text;
  const char* why;
  asm("adr %0, early_misplaced\n adr %1, early_misplaced_why" : "=&r"(text), "=r"(why));
  EarlyConsole console;
  console.write(text);
  console.write_address(address);
  console.write(why);
  stop();
}

}  // namespace

// Pages of the image are pages of memory: off a page boundary it cannot be mapped. Any page boundary will do, where the
// boot protocol asks for more.
// head.S has used adrp before this. Off a 4 KiB boundary its addresses are wrong by less than 4 KiB, up or down, but
// aligned as they were linked. So SP, the cleared BSS and CPU 0's unit lie a little beside their places. That hits data
// of the image alone: the code is further away, and behind the stack come the early tables. Nobody misses it here.
extern "C" void early_require_place() {
  const u64 address = load_address();
  if (!is_aligned(address, kPageSize)) refuse_place(address);
}

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
