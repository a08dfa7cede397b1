#include "kernel/smp_call.hpp"

#include <atomic>

#include "arch/cpu.hpp"
#include "arch/interrupts.hpp"
#include "arch/timer.hpp"
#include "kernel/wait.hpp"
#include "lib/fault.hpp"
#include "lib/format.hpp"
#include "lib/panic.hpp"
#include "percpu/cpu_number.hpp"
#include "percpu/events.hpp"
#include "percpu/percpu.hpp"

namespace atl {
namespace {

/// How long a call may take before the wait is reported, and how many reports there are before it is a bug.
constexpr u64 kCallReportNs = 10'000'000'000;
constexpr unsigned kCallReports = 6;

/// A caller waits for its call, so each CPU has at most one outstanding and the request can live there.
struct CallRequest {
  void (*function)(void*);
  void* argument;
  std::atomic<unsigned> remaining;
};

/// Whose requests wait for this CPU: a bit for each calling CPU. No lock, no queue to overflow.
struct Callers {
  std::array<std::atomic<u64>, kMaxCpus / 64> words;
};

struct IdleWork {
  std::atomic<void (*)(void*)> function;
  void* argument;
};

ATOLL_PER_CPU percpu::PerCpu<CallRequest> outgoing_call;
ATOLL_PER_CPU percpu::PerCpu<Callers> incoming_callers;
ATOLL_PER_CPU percpu::PerCpu<IdleWork> idle_work;

void serve(unsigned caller) {
  CallRequest& request = outgoing_call.on(caller);
  request.function(request.argument);
  percpu::count(percpu::Event::call_served);
  // The caller may reuse the request as soon as it reads zero: nothing of it is touched after this.
  if (request.remaining.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    arch::ipi_send_one(arch::Ipi::wake, caller);
  }
}

void handle_call() {
  Callers& callers = incoming_callers.on(percpu::this_cpu());
  for (unsigned w = 0; w < callers.words.size(); ++w) {
    // A bit set after this exchange comes with an SGI of its own.
    u64 word = callers.words[w].exchange(0, std::memory_order_acquire);
    for (; word != 0; word &= word - 1) serve(w * 64 + static_cast<unsigned>(std::countr_zero(word)));
  }
}

/// Which of `targets` have not even begun to serve `caller`'s call; the others may still be running it.
CpuSet not_begun(unsigned caller, const CpuSet& targets) {
  CpuSet waiting;
  targets.for_each([&](unsigned cpu) {
    const u64 word = incoming_callers.on(cpu).words[caller / 64].load(std::memory_order_relaxed);
    if ((word >> (caller % 64) & 1) != 0) waiting.add(cpu);
  });
  return waiting;
}

void report_wait(unsigned caller, const CpuSet& targets, unsigned remaining) {
  std::array<char, 200> buffer;
  BufferSink names(buffer);
  not_begun(caller, targets).for_each([&](unsigned cpu) { format(names, " {}", cpu); });
  print("smp: CPU {} waits for {} of {} CPUs to run a call; not begun:{}{}\n", caller, remaining,
        targets.count(), names.text().empty() ? " none" : names.text(), names.truncated() ? "..." : "");
}

void handle_wake() { percpu::count(percpu::Event::wake_received); }

}  // namespace

void smp_call_init() {
  arch::ipi_set_handler(arch::Ipi::call, handle_call);
  arch::ipi_set_handler(arch::Ipi::wake, handle_wake);
}

void call_on(const CpuSet& targets, void (*function)(void*), void* argument) {
  if (arch::irqs_masked()) panic("call_on with IRQs masked: it could not serve the calls of others");
  const unsigned caller = percpu::this_cpu();
  CallRequest& request = outgoing_call.on(caller);
  if (request.remaining.load(std::memory_order_relaxed) != 0) panic("CPU {} has a call outstanding", caller);
  request.function = function;
  request.argument = argument;
  request.remaining.store(targets.count(), std::memory_order_relaxed);
  percpu::count(percpu::Event::call_sent, targets.count());
  targets.for_each([&](unsigned cpu) {
    incoming_callers.on(cpu).words[caller / 64].fetch_or(u64{1} << (caller % 64), std::memory_order_release);
  });
  arch::ipi_send(arch::Ipi::call, targets);
  const auto finished = [&] { return request.remaining.load(std::memory_order_acquire) == 0; };
  if constexpr (kFault == Fault::spinner_masks_ipi) {
    arch::irq_disable();
    while (!finished()) arch::relax();
    arch::irq_enable();
  }
  // A host that is short of CPUs may take seconds; a CPU that never answers is a bug that should have a name.
  for (unsigned reports = 0; !wait_until(finished, arch::timer_ticks() + arch::ns_to_ticks(kCallReportNs));) {
    report_wait(caller, targets, request.remaining.load(std::memory_order_relaxed));
    if (++reports == kCallReports) panic("CPU {} waited for a call for too long; see above for whom", caller);
  }
}

void run_when_idle(unsigned cpu, void (*function)(void*), void* argument) {
  IdleWork& work = idle_work.on(cpu);
  if (work.function.load(std::memory_order_acquire) != nullptr) panic("CPU {} has idle work already", cpu);
  work.argument = argument;
  work.function.store(function, std::memory_order_release);
  arch::ipi_send_one(arch::Ipi::wake, cpu);
}

void idle_loop() {
  IdleWork& work = idle_work.on(percpu::this_cpu());
  for (;;) {
    wait_until([&] { return work.function.load(std::memory_order_acquire) != nullptr; });
    const auto function = work.function.load(std::memory_order_relaxed);
    function(work.argument);
    // Only now may the next piece be posted.
    work.function.store(nullptr, std::memory_order_release);
  }
}

}  // namespace atl
