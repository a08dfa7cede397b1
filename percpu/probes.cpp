// One function for each operation, so that `make sizes` can count its instructions from the disassembly:
// probe_<operation>_<bits>_pointer, with the address in a register, and probe_<operation>_<bits>_static.
// They have a section of their own: the size of `.text` is what the kernel itself takes.
#include "percpu/percpu.hpp"

namespace atl::percpu {

// A pointer and its generation, as a list's head would be.
struct alignas(16) Counted {
  void* pointer;
  u64 generation;
};

// Not internal: GCC would address them relative to each other.
ATOLL_PER_CPU PerCpu<u8> probe_variable_8;
ATOLL_PER_CPU PerCpu<u16> probe_variable_16;
ATOLL_PER_CPU PerCpu<u32> probe_variable_32;
ATOLL_PER_CPU PerCpu<u64> probe_variable_64;
ATOLL_PER_CPU PerCpu<Counted> probe_variable_128;

// Results are dropped where the operation does not need them, so that moving them to x0 is not counted.
// Nothing in the kernel calls these, so nothing declares them.
#define ATOLL_PROBE [[gnu::section(".probes")]]
#define ATOLL_PROBES(bits, T)                                                              \
  extern "C" {                                                                             \
  ATOLL_PROBE T probe_read_##bits##_pointer(PerCpuPtr<T> p) { return p.read(); }           \
  ATOLL_PROBE void probe_write_##bits##_pointer(PerCpuPtr<T> p, T v) { p.write(v); }       \
  ATOLL_PROBE void probe_add_##bits##_pointer(PerCpuPtr<T> p, T v) { p.add(v); }           \
  ATOLL_PROBE void probe_add_return_##bits##_pointer(PerCpuPtr<T> p, T v) { p.add_return(v); } \
  ATOLL_PROBE void probe_and_##bits##_pointer(PerCpuPtr<T> p, T v) { p.and_bits(v); }      \
  ATOLL_PROBE void probe_or_##bits##_pointer(PerCpuPtr<T> p, T v) { p.or_bits(v); }        \
  ATOLL_PROBE void probe_xchg_##bits##_pointer(PerCpuPtr<T> p, T v) { p.exchange(v); }     \
  ATOLL_PROBE void probe_cmpxchg_##bits##_pointer(PerCpuPtr<T> p, T a, T b) { p.compare_exchange(a, b); } \
  ATOLL_PROBE T probe_read_##bits##_static() { return probe_variable_##bits.read(); }      \
  ATOLL_PROBE void probe_write_##bits##_static(T v) { probe_variable_##bits.write(v); }    \
  ATOLL_PROBE void probe_add_##bits##_static(T v) { probe_variable_##bits.add(v); }        \
  ATOLL_PROBE void probe_add_return_##bits##_static(T v) { probe_variable_##bits.add_return(v); } \
  ATOLL_PROBE void probe_and_##bits##_static(T v) { probe_variable_##bits.and_bits(v); }   \
  ATOLL_PROBE void probe_or_##bits##_static(T v) { probe_variable_##bits.or_bits(v); }     \
  ATOLL_PROBE void probe_xchg_##bits##_static(T v) { probe_variable_##bits.exchange(v); }  \
  ATOLL_PROBE void probe_cmpxchg_##bits##_static(T a, T b) { probe_variable_##bits.compare_exchange(a, b); } \
  }

ATOLL_PROBES(8, u8)
ATOLL_PROBES(16, u16)
ATOLL_PROBES(32, u32)
ATOLL_PROBES(64, u64)

extern "C" {
ATOLL_PROBE void probe_cmpxchg_128_pointer(PerCpuPtr<Counted> p, Counted a, Counted b) {
  p.compare_exchange(a, b);
}
ATOLL_PROBE void probe_cmpxchg_128_static(Counted a, Counted b) { probe_variable_128.compare_exchange(a, b); }
}

#undef ATOLL_PROBES
#undef ATOLL_PROBE

}  // namespace atl::percpu
