#include "kernel/panic.hpp"

#include <atomic>

#include "arch/cpu.hpp"
#include "arch/firmware.hpp"
#include "arch/interrupts.hpp"
#include "arch/timer.hpp"
#include "kernel/backtrace.hpp"
#include "kernel/console.hpp"
#include "kernel/kernel_stack.hpp"
#include "kernel/registers.hpp"
#include "kernel/smp.hpp"
#include "lib/fault.hpp"
#include "mm/layout.hpp"

namespace atl {
namespace {

constexpr unsigned kPanicStatus = 2;
constexpr unsigned kNoCpu = ~0u;
/// For the others to stop. At 160 vCPUs on 2 host cores a broadcast SGI is answered by all within 5 ms.
constexpr u64 kStopNs = 200'000'000;

struct PanicState {
  std::atomic<unsigned> owner = kNoCpu;  ///< the first CPU that panicked: it alone reports
  std::atomic<unsigned> stopped = 0;
  std::atomic<unsigned> nested = 0;  ///< faults inside the report
};
constinit PanicState g_panic;

struct Reason {
  const char* format;
  std::span<const FormatArgument> arguments;
  const std::source_location* where;  ///< nullptr for an exception
  const arch::TrapFrame* frame;       ///< nullptr if none
};

/// From TPIDR_EL1 alone: the window may be what is broken.
unsigned cpu_number() { return mm::KernelLayout::cpu_of_offset(arch::percpu_offset()); }

/// A line of its own, and whole: the caller, or another CPU, may be in the middle of one.
void print_message(const char* label, const Reason& reason) {
  std::array<char, 256> buffer;
  BufferSink message(buffer);
  format_to(message, reason.format, reason.arguments);
  print("\n{}{}\n", label, message.text());
}

void on_stop() {
  if constexpr (kFault == Fault::stop_not_handled) return;
  g_panic.stopped.fetch_add(1, std::memory_order_release);
  arch::halt();
}

/// How many had to stop: those that run the kernel. None before interrupts are set up, none that is yet to come.
unsigned stop_others() {
  CpuSet running = admit_no_more_cpus();
  running.remove(cpu_number() % kMaxCpus);
  const unsigned others = running.count();
  if (others == 0) return 0;
  arch::ipi_send_all_others(arch::Ipi::stop);
  const u64 deadline = arch::timer_ticks() + arch::ns_to_ticks(kStopNs);
  while (g_panic.stopped.load(std::memory_order_acquire) < others && arch::timer_ticks() < deadline)
    arch::relax();
  return others;
}

/// Only one CPU comes back from here, and only once; a fault of its own report ends the machine.
void become_owner(const Reason& reason) {
  unsigned owner = kNoCpu;
  if (g_panic.owner.compare_exchange_strong(owner, cpu_number(), std::memory_order_acq_rel)) return;
  if (owner != cpu_number()) arch::halt();
  if (g_panic.nested.fetch_add(1, std::memory_order_relaxed) == 0) {
    print_message("panic: fault inside the report: ", reason);
    print("panic: end of report\n");
  }
  arch::exit_with_status(kPanicStatus);
}

[[noreturn]] void report(const Reason& reason, VirtAddr frame_pointer, VirtAddr stack_pointer) {
  arch::irq_disable();
  become_owner(reason);
  print_message("panic: ", reason);  // before the others are stopped: should that fault, it is out

  const unsigned others = stop_others();
  // Whoever was stopped in the middle of a message holds the lock for ever.
  console_break_lock();
  if (reason.where != nullptr) {
    print("panic: CPU {} at {}:{}; ", cpu_number(), reason.where->file_name(), reason.where->line());
  } else {
    print("panic: CPU {} in an exception; ", cpu_number());
  }
  print("stopped {} of {} other CPUs\n", g_panic.stopped.load(std::memory_order_relaxed), others);
  if (reason.frame != nullptr) print_registers(*reason.frame);

  std::array<u64, kMaxBacktrace> addresses;
  const std::array stacks{kernel_stack_of(stack_pointer), emergency_stack()};
  const usize count = walk_frame_records(frame_pointer, stacks, addresses);
  print("backtrace, innermost first:\n");
  if (reason.frame != nullptr) print_code_address("  ", VirtAddr(reason.frame->elr));
  print_backtrace({addresses.data(), count});
  print("panic: end of report\n");
  arch::exit_with_status(kPanicStatus);
}

}  // namespace

void panic_enable_stop() { arch::ipi_set_handler(arch::Ipi::stop, on_stop); }

void panic_with(std::source_location where, const char* format, std::span<const FormatArgument> arguments) {
  const VirtAddr frame_pointer = arch::frame_pointer();
  report({format, arguments, &where, nullptr}, frame_pointer, frame_pointer);
}

void panic_at_with(const arch::TrapFrame& frame, const char* format,
                   std::span<const FormatArgument> arguments) {
  report({format, arguments, nullptr, &frame}, VirtAddr(frame.x[29]), VirtAddr(frame.sp));
}

}  // namespace atl
