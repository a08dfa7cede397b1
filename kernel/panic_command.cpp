#include "kernel/panic_command.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "arch/cpu.hpp"
#include "arch/timer.hpp"
#include "arch/trap.hpp"
#include "kernel/command_line.hpp"
#include "kernel/console.hpp"
#include "kernel/secondary_memory.hpp"
#include "kernel/smp.hpp"
#include "kernel/smp_call.hpp"
#include "lib/panic.hpp"

namespace atl {
namespace {

/// For CPUs that are to be in some state when the panic comes; it comes all the same.
constexpr u64 kPatienceNs = 10'000'000'000;

constinit std::atomic<unsigned> g_ready = 0;

void wait_for_ready(unsigned cpus) {
  const u64 deadline = arch::timer_ticks() + arch::ns_to_ticks(kPatienceNs);
  while (g_ready.load(std::memory_order_acquire) < cpus && arch::timer_ticks() < deadline) arch::relax();
}

CpuSet other_cpus() {
  CpuSet others = online_cpus();
  others.remove(0);
  return others;
}

/// Below the boot CPU's stack, where nothing is ever mapped.
VirtAddr guard_page() { return idle_stack_top(0) - 2 * arch::kStackBytes; }

void panic_fault() { *pointer_to<volatile u64>(guard_page()) = 0; }

void panic_together() {
  const auto panic_with_the_others = [](void*) {
    g_ready.fetch_add(1, std::memory_order_acq_rel);
    wait_for_ready(online_cpus().count());
    panic("requested on all CPUs at once by the monitor's `panic together`");
  };
  other_cpus().for_each([&](unsigned cpu) { run_when_idle(cpu, panic_with_the_others, nullptr); });
  panic_with_the_others(nullptr);
}

void spin_masked(void*) {
  arch::irq_disable();
  g_ready.fetch_add(1, std::memory_order_acq_rel);
  for (;;) arch::relax();
}

void panic_masked() {
  const CpuSet others = other_cpus();
  others.for_each([](unsigned cpu) { run_when_idle(cpu, spin_masked, nullptr); });
  wait_for_ready(others.count());
  panic("requested by the monitor's `panic masked`");
}

/// The message has to be read where nothing is.
void panic_nested() {
  panic("requested by the monitor's `panic nested`, {}",
        std::string_view(pointer_to<const char>(guard_page()), arch::kStackBytes));
}

/// Its own record of the frame chain is followed by itself.
[[gnu::noinline]] void panic_chain() {
  auto* record = static_cast<volatile u64*>(__builtin_frame_address(0));
  record[0] = address_of(record).value();
  panic("requested by the monitor's `panic chain`");
}

void panic_locked() {
  const CpuSet others = other_cpus();
  if (others.empty()) return;
  const auto hold_console = [](void*) {
    console_take();
    spin_masked(nullptr);
  };
  bool is_held = false;
  others.for_each([&](unsigned cpu) {
    if (!std::exchange(is_held, true)) run_when_idle(cpu, hold_console, nullptr);
  });
  wait_for_ready(1);
  panic("requested by the monitor's `panic locked`");
}

/// A stack frame for each level. What is read after the call keeps the compiler from making a loop of it.
[[gnu::noinline]] u64 overflow_stack(u64 levels) {
  volatile u64 kept = levels;
  const u64 below = levels == 0 ? 0 : overflow_stack(levels - 1);
  return below + kept;
}

void panic_overflow(std::string_view number) {
  const auto cpu = parse_number(number, kMaxCpus - 1);
  if (!cpu || !online_cpus().contains(static_cast<unsigned>(*cpu))) return;
  call_on(CpuSet::of(static_cast<unsigned>(*cpu)), [] { overflow_stack(arch::kStackBytes); });
}

struct Form {
  std::string_view name;
  void (*run)();
};
constexpr std::array kForms{Form{"fault", panic_fault},   Form{"together", panic_together},
                            Form{"masked", panic_masked}, Form{"nested", panic_nested},
                            Form{"chain", panic_chain},   Form{"locked", panic_locked}};

}  // namespace

CommandResult panic_command(std::string_view arguments) {
  constexpr std::string_view kOverflow = "overflow ";
  if (arguments.empty()) panic("requested by the monitor's `panic`");
  const auto* form = std::ranges::find(kForms, arguments, &Form::name);
  if (arguments.starts_with(kOverflow)) {
    const std::string_view cpu = arguments.substr(kOverflow.size());
    panic_overflow(cpu);
    print("panic overflow: no CPU \"{}\" is online\n", ForeignText{cpu});
  } else if (form != kForms.end()) {
    form->run();
    print("panic {}: needs a second CPU that is online\n", form->name);
  } else {
    print("no panic by \"{}\"; there is: panic {}\n", ForeignText{arguments}, kPanicForms);
  }
  return CommandResult::refused();
}

}  // namespace atl
