// The end of the kernel: one report, from one CPU, and a non-zero exit status. `panic` itself is declared in
// lib/panic.hpp, since every layer may find a broken invariant.
//
//   panic: <message>
//   panic: CPU 3 at mm/buddy.cpp:120; stopped 158 of 159 other CPUs
//   …registers, if an exception brought us here…
//   backtrace, innermost first:
//     0xffffffffff612345 mm::Buddy::free+0x44
//   panic: end of report
//
// A fault inside the report ends it with `panic: fault inside the report: <message>` and the same last line. The first
// message is always out before: should it be what faults, its text without what belongs into its fields.
#pragma once

#include "arch/trap.hpp"
#include "lib/panic.hpp"

namespace atl {

/// From here on a panic stops the other CPUs by Ipi::stop. Boot CPU, once interrupts are initialised and before
/// another CPU starts. Where that is an NMI (arch/interrupts.hpp) a CPU that masks IRQs stops as well; where it is
/// not, the report says which CPUs did not and why. One that panics after another counts as stopped. One that is just
/// starting parks itself when it arrives.
void panic_enable_stop();

/// `panic` for exceptions: the report shows the registers in `frame` and the backtrace starts there.
[[noreturn]] void panic_at_with(const arch::TrapFrame& frame, const char* format,
                                std::span<const FormatArgument> arguments);
template <class... Args>
[[noreturn]] void panic_at(const arch::TrapFrame& frame, LocatedFormat<std::type_identity_t<Args>...> format,
                           const Args&... args) {
  const std::array<FormatArgument, sizeof...(Args)> list{FormatArgument(args)...};
  panic_at_with(frame, format.text, list);
}

}  // namespace atl
