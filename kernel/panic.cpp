#include "kernel/panic.hpp"

#include <array>
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
#include "lib/cpu_set.hpp"
#include "lib/fault.hpp"
#include "mm/layout.hpp"

namespace atl {
namespace {

constexpr unsigned kPanicStatus = 2;
constexpr unsigned kNoCpu = ~0u;
/// From one CPU that stops to the next. 160 vCPUs on 2 host cores, all of them spinning, are 80 time slices.
constexpr u64 kStopNs = 1'000'000'000;
/// Faults inside the report that still have a message; what faults even then is the printing itself.
constexpr unsigned kMaxNested = 2;

struct Reason {
  const char* format;
  std::span<const FormatArgument> arguments;
  const std::source_location* where;  ///< nullptr for an exception
  const arch::TrapFrame* frame;       ///< nullptr if none
};

/// All but `owner` and `stopped` is the owner's own.
struct PanicState {
  std::atomic<unsigned> owner = kNoCpu;  ///< the first CPU that panicked: it alone reports
  std::array<std::atomic<bool>, kMaxCpus> stopped{};
  std::atomic<bool> stop_sent = false;
  std::atomic<unsigned> nested = 0;  ///< faults inside the report
  // Of a message that is not out yet. Atomic against a fault of this CPU, which reads them.
  std::atomic<const char*> label = nullptr;
  std::atomic<const char*> text = nullptr;
};
constinit PanicState g_panic;

/// From TPIDR_EL1 alone: the window may be what is broken.
unsigned cpu_number() { return mm::KernelLayout::cpu_of_offset(arch::percpu_offset()) % kMaxCpus; }

/// A line of its own, and whole: the caller, or another CPU, may be in the middle of one.
void print_message(const char* label, const Reason& reason) {
  g_panic.label.store(label, std::memory_order_relaxed);
  g_panic.text.store(reason.format, std::memory_order_relaxed);
  std::array<char, 256> buffer;
  BufferSink message(buffer);
  format_to(message, reason.format, reason.arguments);
  print("\n{}{}\n", label, message.text());
  g_panic.text.store(nullptr, std::memory_order_relaxed);
}

/// The message whose formatting or printing has faulted, its fields left as they are written.
void print_lost_message() {
  const char* text = g_panic.text.exchange(nullptr, std::memory_order_relaxed);
  if (text == nullptr || kFault == Fault::first_message_lost) return;
  print("\n{}{}\n", g_panic.label.load(std::memory_order_relaxed), text);
}

void note_stopped() { g_panic.stopped[cpu_number()].store(true, std::memory_order_release); }

void on_stop() {
  if constexpr (kFault == Fault::stop_not_handled) return;
  note_stopped();
  arch::halt();
}

/// For a CPU that panics after another one. The SGI that is to stop it stays pending, or comes yet: if WFI did not wait
/// for that, 159 such CPUs would leave the report no host to run on.
[[noreturn]] void stop_here() {
  note_stopped();
  arch::interrupts_shut_out();
  arch::halt();
}

CpuSet still_running(const CpuSet& cpus) {
  CpuSet running;
  cpus.for_each([&](unsigned cpu) {
    if (!g_panic.stopped[cpu].load(std::memory_order_acquire)) running.add(cpu);
  });
  return running;
}

/// Who had to stop, and who of them did not.
struct Others {
  CpuSet all;
  CpuSet running;
};

/// Those that run the kernel: none before interrupts are set up, none that is yet to come.
Others stop_others() {
  Others others{admit_no_more_cpus(), {}};
  others.all.remove(cpu_number());
  if (others.all.empty()) return others;
  g_panic.stop_sent.store(true, std::memory_order_relaxed);
  arch::ipi_send_all_others(arch::Ipi::stop);
  unsigned before = kMaxCpus;
  u64 deadline = 0;
  for (;;) {
    others.running = still_running(others.all);
    const unsigned left = others.running.count();
    const u64 now = arch::timer_ticks();
    if (left < before) deadline = now + arch::ns_to_ticks(kStopNs);
    if (left == 0 || now >= deadline) return others;
    before = left;
    arch::relax();
  }
}

void print_running(const CpuSet& running) {
  if (running.empty()) return;
  std::array<char, 200> buffer;
  BufferSink names(buffer);
  running.for_each([&](unsigned cpu) { format(names, " {}", cpu); });
  print("  not stopped:{}{}; {}\n", names.text(), names.truncated() ? "..." : "",
        arch::has_nmi() ? "they did not take an FIQ"
                        : "they mask IRQs, and this interrupt controller keeps FIQs to the Secure world");
}

/// Only one CPU comes back from here, and only once; a fault of its own report ends the machine.
void become_owner(const Reason& reason) {
  unsigned owner = kNoCpu;
  if (g_panic.owner.compare_exchange_strong(owner, cpu_number(), std::memory_order_acq_rel)) return;
  if (owner != cpu_number()) stop_here();
  if (g_panic.nested.fetch_add(1, std::memory_order_relaxed) < kMaxNested) {
    print_lost_message();
    if (!g_panic.stop_sent.load(std::memory_order_relaxed)) stop_others();
    console_break_lock();
    print_message("panic: fault inside the report: ", reason);
    print("panic: end of report\n");
  }
  arch::exit_with_status(kPanicStatus);
}

[[noreturn]] void report(const Reason& reason, VirtAddr frame_pointer, VirtAddr stack_pointer) {
  arch::irq_disable();
  become_owner(reason);
  print_message("panic: ", reason);  // before the others are stopped: should that fault, it is out

  const Others others = stop_others();
  // Whoever was stopped in the middle of a message holds the lock for ever.
  console_break_lock();
  if (reason.where != nullptr) {
    print("panic: CPU {} at {}:{}; ", cpu_number(), reason.where->file_name(), reason.where->line());
  } else {
    print("panic: CPU {} in an exception; ", cpu_number());
  }
  const unsigned count = others.all.count();
  print("stopped {} of {} other CPUs\n", count - others.running.count(), count);
  print_running(others.running);
  if (reason.frame != nullptr) print_registers(*reason.frame);

  std::array<u64, kMaxBacktrace> addresses;
  const std::array stacks{kernel_stack_of(stack_pointer), emergency_stack()};
  const usize depth = walk_frame_records(frame_pointer, stacks, addresses);
  print("backtrace, innermost first:\n");
  if (reason.frame != nullptr) print_code_address("  ", VirtAddr(reason.frame->elr));
  print_backtrace({addresses.data(), depth});
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
