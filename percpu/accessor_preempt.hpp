// The accessor that Linux has shipped on arm64: with preemption off, add TPIDR_EL1's offset to the address and
// operate on the global alias. Kept for comparison; ordinary C++ around the same sequences, so that what the
// compiler needs around them (spills, a frame for the call) is part of what is compared.
#pragma once

#include "arch/cpu.hpp"
#include "arch/percpu_atomic.hpp"
#include "percpu/alias.hpp"
#include "percpu/preempt.hpp"

namespace atl::percpu {

class PreemptAccessor {
  using Operation = arch::PerCpuOperation;

 public:
  template <class W> static W read(const W* p) {
    const Section<Operation::read, sizeof(W)> section;
    return arch::percpu_read(own(p));
  }
  template <class W> static void write(W* p, W value) {
    const Section<Operation::write, sizeof(W)> section;
    arch::percpu_write(own(p), value);
  }
  template <class W> static void add(W* p, W value) {
    const Section<Operation::add, sizeof(W)> section;
    arch::percpu_add(own(p), value);
  }
  template <class W> static W add_return(W* p, W value) {
    const Section<Operation::add_return, sizeof(W)> section;
    return arch::percpu_add_return(own(p), value);
  }
  template <class W> static void bit_and(W* p, W value) {
    const Section<Operation::bit_and, sizeof(W)> section;
    arch::percpu_and(own(p), value);
  }
  template <class W> static void bit_or(W* p, W value) {
    const Section<Operation::bit_or, sizeof(W)> section;
    arch::percpu_or(own(p), value);
  }
  template <class W> static W exchange(W* p, W value) {
    const Section<Operation::exchange, sizeof(W)> section;
    return arch::percpu_exchange(own(p), value);
  }
  template <class W> static W compare_exchange(W* p, W expected, W desired) {
    const Section<Operation::compare_exchange, sizeof(W)> section;
    return arch::percpu_compare_exchange(own(p), expected, desired);
  }

 private:
  /// Preemption off, between the two marks of a site.
  template <Operation Op, usize Bytes>
  struct Section {
    Section() {
      arch::percpu_site_begin<Op, Bytes>();
      preempt_disable();
    }
    ~Section() {
      preempt_enable();
      arch::percpu_site_end<Op, Bytes>();
    }
  };

  /// The register is read by a volatile asm between the volatile accesses to the preempt count, and the sequence
  /// is one too: none of them leaves the section.
  template <class W> static W* own(W* p) { return global_alias(p, arch::percpu_offset()); }
};

}  // namespace atl::percpu
