// The monitor: commands by name, from the command line and then from the console.
#pragma once

#include "kernel/command_line.hpp"

namespace atl {

/// Runs the commands of `run=`; if none of them ends the machine, prompts for more, for ever.
/// Boot CPU, IRQs enabled, all CPUs online. The text that the options view stays.
[[noreturn]] void monitor_main(const KernelOptions& options);

}  // namespace atl
