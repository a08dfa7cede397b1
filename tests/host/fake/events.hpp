// The machine as host tests see it: the seam's barriers and TLB operations become events in a log,
// and the registers the seam reads become values a test sets. One host thread stands for one CPU.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <vector>

#include "arch/cpu.hpp"
#include "arch/mmu.hpp"
#include "lib/address.hpp"

namespace atl::arch::fake {

enum class Operation : u8 {
  publish_table,
  publish_descriptor,
  install_root,
  drop_identity_map,
  tlb_flush_page,
  tlb_flush_all,
  tlb_flush_all_local,
  sync_instructions,
  clean_to_poc,
  wait_for_interrupt,
};
const char* to_string(Operation operation);

/// `address` is the operation's VA or, of the root operations, the (own or zero) root's PA; else 0.
struct Event {
  Operation operation;
  u64 address = 0;

  friend bool operator==(const Event&, const Event&) = default;
};
std::ostream& operator<<(std::ostream& out, const Event& event);

/// All events since the test began or `clear_events`, of all threads.
std::vector<Event> events();
void clear_events();
usize count(Operation operation);

/// Calls `observer` at each event, on the thread that causes it, after it is logged. With it a test looks
/// at memory as it is *at* a barrier: "nothing links the new table yet when it is published".
void observe(std::function<void(const Event&)> observer);

/// What the calling thread's CPU registers read as.
void set_percpu_offset(u64 offset);
void set_mpidr(u64 value);
void set_cpu_features(const CpuFeatures& features);
void set_current_root(PhysAddr root);
/// What `arch::translate` answers, on every thread. Without it every address faults.
void set_translation(std::function<std::optional<PhysAddr>(VirtAddr)> translation);

/// As before the first test: empty log, no observer, registers zero, IRQs unmasked.
/// tests/host/support.cpp calls it at the start of every test.
void reset();

/// For the fakes themselves.
void record(Operation operation, u64 address = 0);

}  // namespace atl::arch::fake
