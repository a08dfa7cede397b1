#include "tests/host/fake/percpu_units.hpp"

#include <cstring>

#include "arch/percpu_atomic.hpp"
#include "lib/panic.hpp"
#include "tests/host/fake/events.hpp"

// Weak: a test binary without per-CPU variables has no such section.
extern "C" [[gnu::weak]] std::byte __start_percpu_variables[];
extern "C" [[gnu::weak]] std::byte __stop_percpu_variables[];

namespace atl::arch {

namespace fake {

namespace {

constexpr usize kUnitAlignment = 64 * 1024;
const PerCpuUnits* units = nullptr;

usize section_bytes() { return static_cast<usize>(__stop_percpu_variables - __start_percpu_variables); }
// The same distance from an alignment boundary in every unit as in the section.
usize unit_stride() { return align_up(section_bytes(), kUnitAlignment); }

}  // namespace

PerCpuUnits::PerCpuUnits(unsigned cpus)
    : cpus_(cpus), memory_(std::make_unique<std::byte[]>(cpus * unit_stride() + 2 * kUnitAlignment)) {
  const u64 phase = address_of(__start_percpu_variables).value() % kUnitAlignment;
  first_ = pointer_to<std::byte>(address_of(memory_.get()).align_up(kUnitAlignment) + phase);
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    std::memcpy(first_ + cpu * unit_stride(), __start_percpu_variables, section_bytes());
  }
  if (units != nullptr) panic("two PerCpuUnits at a time");
  units = this;
  migrate_to(0);
}

PerCpuUnits::~PerCpuUnits() {
  units = nullptr;
  set_percpu_offset(0);
}

void PerCpuUnits::migrate_to(unsigned cpu) { set_percpu_offset(offset_of(cpu)); }

u64 PerCpuUnits::offset_of(unsigned cpu) const {
  return address_of(unit(cpu).data()) - address_of(__start_percpu_variables);
}

std::span<std::byte> PerCpuUnits::unit(unsigned cpu) const {
  if (cpu >= cpus_) panic("CPU {} of {} has no unit", cpu, cpus_);
  return {first_ + cpu * unit_stride(), section_bytes()};
}

}  // namespace fake

u64 percpu_offset_of(unsigned cpu) { return fake::units == nullptr ? 0 : fake::units->offset_of(cpu); }

bool is_percpu_local(VirtAddr va) {
  return va >= address_of(__start_percpu_variables) && va < address_of(__stop_percpu_variables);
}

}  // namespace atl::arch
