#include "kernel/percpu_command.hpp"

#include <algorithm>

#include "kernel/command_line.hpp"
#include "kernel/percpu_variables.hpp"
#include "lib/fault.hpp"
#include "mm/kernel_tables.hpp"

extern "C" {
/// Missing from the first link, whose addresses it is made of.
[[gnu::weak]] extern const atl::u32 __percpu_symbols[];
}

namespace atl {

CommandResult percpu_command(std::string_view arguments) {
  using mm::KernelLayout;
  const std::string_view number = arguments.substr(0, arguments.find(' '));
  const auto cpu = parse_number(number, kMaxCpus - 1);
  if (!cpu || !mm::kernel_roots().cpus().contains(static_cast<unsigned>(*cpu))) {
    print("percpu: no CPU \"{}\" with a unit; `cpus` lists them\n", number);
    return CommandResult::refused();
  }
  const std::string_view pattern =
      arguments.substr(std::min(arguments.find_first_not_of(' ', number.size()), arguments.size()));
  const VirtAddr unit = kFault == Fault::percpu_shows_own ? KernelLayout::kLocal.start
                                                          : KernelLayout::unit(static_cast<unsigned>(*cpu));
  return print_variables(PerCpuSymbols(__percpu_symbols), pointer_to<const std::byte>(unit),
                         pattern.empty() ? "*" : pattern);
}

}  // namespace atl
