#include "kernel/console.hpp"

#include <array>
#include <atomic>

#include "arch/cpu.hpp"
#include "arch/timer.hpp"
#include "arch/uart.hpp"
#include "kernel/line_editor.hpp"
#include "kernel/wait.hpp"
#include "lib/config.hpp"
#include "lib/panic.hpp"
#include "mm/layout.hpp"
#include "percpu/events.hpp"
#include "percpu/migration.hpp"

namespace atl {
namespace {

/// A holder that the host does not run may take long at 160 vCPUs; a second means that it never will.
constexpr u64 kPatienceNs = 1'000'000'000;

/// Keeps messages whole. The holder has IRQs masked. A CPU that faults while it prints may print again.
class MessageLock {
 public:
  void lock() {
    u64 saved = arch::irq_save();
    // Not by ownership: a CPU whose patience ran out prints without it, and may fault while it does.
    if (held_[cpu()].depth > 0) {
      ++held_[cpu()].depth;
      return;
    }
    const u64 deadline = arch::timer_ticks() + arch::ns_to_ticks(kPatienceNs);
    for (;;) {
      unsigned expected = kFree;
      if (owner_.compare_exchange_strong(expected, self(), std::memory_order_acquire)) break;
      if (arch::timer_ticks() > deadline) break;
      // Whoever waits serves interrupts, so that others do not wait for it in turn.
      arch::irq_restore(saved);
      arch::relax();
      saved = arch::irq_save();
    }
    held_[cpu()] = {saved, 1};
  }
  void unlock() {
    Held& held = held_[cpu()];
    if (--held.depth > 0) return;
    // Not the owner: patience ran out, or a panic broke in.
    if (owner_.load(std::memory_order_relaxed) == self()) owner_.store(kFree, std::memory_order_release);
    arch::irq_restore(held.interrupts);
  }
  /// The message that this CPU was in, if any, is not gone back to.
  void break_open() {
    held_[cpu()].depth = 0;
    owner_.store(kFree, std::memory_order_release);
  }

 private:
  /// Per CPU and not in the lock, since a CPU may print without owning it; and not in the window, which may
  /// be what a message is about.
  struct Held {
    u64 interrupts;
    unsigned depth;
  };
  static constexpr unsigned kFree = 0;

  static unsigned cpu() { return mm::KernelLayout::cpu_of_offset(arch::percpu_offset()) % kMaxCpus; }
  static unsigned self() { return cpu() + 1; }

  std::atomic<unsigned> owner_ = kFree;  ///< CPU number + 1
  std::array<Held, kMaxCpus> held_{};
};

class UartSink final : public FormatSink {
 public:
  void begin_message() override { lock_.lock(); }
  void end_message() override { lock_.unlock(); }
  void write(std::string_view text) override {
    for (char c : text) {
      if (c == '\n') arch::uart_put('\r');
      arch::uart_put(c);
    }
  }
  void break_lock() { lock_.break_open(); }

 private:
  MessageLock lock_;
};

constinit UartSink g_sink;
constinit InputRing g_input;
/// None: input is polled.
constinit std::optional<arch::IrqNumber> g_input_irq;
constexpr u64 kPollNs = 20'000'000;
constinit std::atomic<bool> g_interrupts_come = false;
/// The ring was full: the line is off, and what waits in the UART's FIFO holds the sender back.
constinit std::atomic<bool> g_input_paused = false;

void on_receive(arch::IrqNumber irq) {
  g_interrupts_come.store(true, std::memory_order_relaxed);
  while (!g_input.full()) {
    const auto c = arch::uart_get();
    if (!c) return;
    percpu::count(percpu::Event::console_input);
    static_cast<void>(g_input.push(*c));
  }
  arch::irq_disable_line(irq);
  g_input_paused.store(true, std::memory_order_release);
}

/// On the CPU that takes the interrupt, so that it cannot come between the two.
Result<> resume_input() {
  const percpu::IrqsOff off;
  if (g_input_paused.exchange(false, std::memory_order_acquire)) TRY(arch::irq_enable_line(*g_input_irq));
  return {};
}

/// Takes what has arrived without an interrupt's help. The handler runs on this CPU, so both fill the ring in turn.
void poll_input() {
  const percpu::IrqsOff off;
  while (!g_input.full()) {
    const auto c = arch::uart_get();
    if (!c) return;
    static_cast<void>(g_input.push(*c));
  }
}

/// Returns when the ring holds something. The interrupt is what the tree says, and may be another device's: until one
/// has come the UART is looked at as well, now and then.
void wait_for_input() {
  const auto has_input = [] { return !g_input.empty(); };
  for (;;) {
    if (g_input_irq && !resume_input()) panic("console: interrupt {} has gone", *g_input_irq);
    if (g_input_irq && g_interrupts_come.load(std::memory_order_relaxed)) return wait_until(has_input);
    if (wait_until(has_input, arch::timer_ticks() + arch::ns_to_ticks(kPollNs))) return;
    poll_input();
  }
}

}  // namespace

void console_init() { set_print_sink(&g_sink); }

void console_break_lock() { g_sink.break_lock(); }

void console_take() { g_sink.begin_message(); }

void console_start_input(std::optional<arch::IrqNumber> irq) {
  if (irq && arch::irq_set_handler(*irq, on_receive) && arch::irq_enable_line(*irq)) {
    g_input_irq = irq;
    arch::uart_enable_receive_interrupt();
  } else {
    print("console: no interrupt that can be used; input is polled\n");
  }
}

std::string_view console_read_line(std::span<char> buffer) {
  LineEditor editor(buffer);
  for (;;) {
    if (g_input.empty()) wait_for_input();
    while (const auto c = g_input.pop()) {
      if (editor.feed(*c) != LineEditor::State::editing) return editor.text();
    }
  }
}

}  // namespace atl
