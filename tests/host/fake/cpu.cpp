// arch/cpu.hpp for host tests: registers are memory, one set for each thread.
#include "arch/cpu.hpp"

#include "lib/panic.hpp"
#include "tests/host/fake/events.hpp"
#include "tests/host/fake/registers.hpp"

namespace atl::arch {

namespace fake {

Registers& registers() {
  thread_local Registers registers;
  return registers;
}
void set_percpu_offset(u64 offset) { registers().percpu_offset = offset; }
void set_mpidr(u64 value) { registers().mpidr = value; }
void set_cpu_features(const CpuFeatures& features) { registers().features = features; }
void set_current_root(PhysAddr root) { registers().root = root; }

}  // namespace fake

u64 percpu_offset() { return fake::registers().percpu_offset; }
void* current() { return fake::registers().current; }
void set_current(void* thread) { fake::registers().current = thread; }
u64 mpidr() { return fake::registers().mpidr; }

u64 irq_save() {
  const u64 saved = fake::registers().irqs_masked;
  fake::registers().irqs_masked = true;
  return saved;
}
void irq_restore(u64 saved) { fake::registers().irqs_masked = saved != 0; }
void irq_enable() { fake::registers().irqs_masked = false; }
void irq_disable() { fake::registers().irqs_masked = true; }
bool irqs_masked() { return fake::registers().irqs_masked; }

void wait_for_interrupt() { fake::record(fake::Operation::wait_for_interrupt); }
void relax() {}
void halt() { panic("halted"); }

CpuFeatures read_cpu_features() { return fake::registers().features; }

}  // namespace atl::arch
