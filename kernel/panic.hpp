// The end of the kernel: one report, from one CPU, and a non-zero exit status. `panic` itself is declared in
// lib/panic.hpp, since every layer may find a broken invariant.
//
//   panic: <message>
//   panic: CPU 3 at mm/buddy.cpp:120; stopped 158 of 159 other CPUs
//   …registers, if an exception brought us here…
//   backtrace, innermost first:
//     0xffffffffff612345 mm::Buddy::free+0x44
//   panic: end of report
#pragma once

#include "arch/trap.hpp"
#include "lib/panic.hpp"

namespace atl {

/// From here on a panic stops the other CPUs by Ipi::stop. Boot CPU, once interrupts are initialised and before
/// another CPU starts. A CPU that has interrupts masked is not stopped (there are no pseudo-NMIs): the report
/// says how many did not answer. One that is just starting parks itself when it arrives.
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
