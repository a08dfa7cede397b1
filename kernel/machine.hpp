// What the kernel knows of the hardware. Filled once from the device tree, before the second CPU is
// started, and read-only from then on. RAM and reservations go straight to the memory map instead
// (kernel/device_tree.hpp), so that no fixed number of banks is built in here.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "arch/firmware.hpp"
#include "arch/interrupts.hpp"
#include "lib/address.hpp"
#include "lib/config.hpp"
#include "lib/types.hpp"

namespace atl {

struct CpuDescription {
  u64 affinity =
      0;  ///< as its node says: should be MPIDR affinity fields alone, and unique; CpuMap::add checks
  bool psci = false;  ///< may be started by PSCI CPU_ON ("enable-method")
};

struct GicDescription {
  /// One region a socket or die is the rule (QEMU's virt has two from 124 CPUs on); 16 leaves room.
  static constexpr usize kMaxRegions = 16;

  std::optional<arch::GicVersion> version;  ///< nullopt: the tree names none
  PhysRange distributor;
  PhysRange cpu_interface;                       ///< GICv2 only
  std::array<PhysRange, kMaxRegions> regions{};  ///< GICv3 redistributors, in device-tree order
  usize region_count = 0;
  u64 redistributor_stride = 0;  ///< bytes; 0 = as GICR_TYPER says

  std::span<const PhysRange> redistributors() const { return {regions.data(), region_count}; }
};

struct ConsoleDescription {
  PhysRange registers;  ///< of a PL011 or SBSA UART: `arch::kUartBytes`, whatever the tree's `reg` says
  bool identifies =
      true;  ///< has the identification registers of a PL011; those of an SBSA UART are optional
  std::optional<u32> irq;  ///< GIC INTID
};

struct Machine {
  /// Linux's arm64 COMMAND_LINE_SIZE: what a loader made for Linux may rely on.
  static constexpr usize kMaxBootArguments = 2048;

  std::array<CpuDescription, kMaxCpus> cpus{};  ///< in device-tree order
  unsigned cpu_count = 0;
  unsigned cpus_left_out = 0;  ///< usable ones beyond kMaxCpus

  arch::PsciConduit psci = arch::PsciConduit::none;
  GicDescription gic;
  std::optional<u32> timer_irq;  ///< GIC INTID of the virtual timer
  std::optional<ConsoleDescription> console;
  PhysRange initrd;  ///< empty if there is none

  std::array<char, kMaxBootArguments> boot_argument_text{};
  usize boot_argument_length = 0;

  std::span<const CpuDescription> cpu_list() const { return {cpus.data(), cpu_count}; }
  std::string_view boot_arguments() const { return {boot_argument_text.data(), boot_argument_length}; }
};

}  // namespace atl
