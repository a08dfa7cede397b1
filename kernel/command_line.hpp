// The kernel command line, with Linux's rules: words separated by spaces, `name` or `name=value`, quotes
// around a value or a whole word, `-` and `_` alike in names, the last of several wins, `--` ends it.
// Pure; the options keep views into the text.
#pragma once

#include <optional>
#include <string_view>

#include "lib/address.hpp"
#include "lib/format.hpp"
#include "lib/types.hpp"

namespace atl {

/// What can be said on the command line (docs/boot.md lists it for users).
struct KernelOptions {
  /// run=a,b,…: monitor commands to run in order once booted; empty: the monitor prompt.
  std::string_view run;
  /// selftest=GLOB: the names of the tests that `selftest` runs.
  std::string_view selftest = "*";
  /// mem=SIZE: RAM above the lowest SIZE bytes is left alone.
  std::optional<u64> mem;
  /// maxcpus=N: CPUs to start at boot, the boot CPU included; 0 and 1 both mean it alone.
  std::optional<unsigned> maxcpus;
  /// lse=off: keep the LL/SC forms even where the CPUs have FEAT_LSE.
  bool lse = true;
  /// earlycon=pl011,[mmio32,]ADDRESS: the registers of the UART to print on until the device tree's takes over, a
  /// multiple of 4. None for plain `earlycon`: the documented UART, which is what is used without it too.
  std::optional<PhysAddr> earlycon;

  friend bool operator==(const KernelOptions&, const KernelOptions&) = default;
};

/// Never fails: a bad value gives a line in `notes` and the option's default, an unknown name one line.
KernelOptions parse_command_line(std::string_view text, FormatSink& notes);

struct CommandLineWord {
  std::string_view name;
  std::optional<std::string_view> value;  ///< absent without a `=`
};

/// Takes the words off a command line one by one.
class CommandLineReader {
 public:
  explicit CommandLineReader(std::string_view text) : rest_(text) {}
  std::optional<CommandLineWord> next();

 private:
  std::string_view rest_;
};

/// Decimal or 0x…, whole text, at most `max`.
std::optional<u64> parse_number(std::string_view text, u64 max = ~u64{0});
/// A number with an optional K, M, G or T (powers of 1024, either case), below 2^64.
std::optional<u64> parse_size(std::string_view text);

}  // namespace atl
