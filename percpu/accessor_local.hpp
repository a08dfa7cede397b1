// The accessor this kernel exists for: a local address already is this CPU's copy, so the operation is the
// bare sequence, wherever the thread runs.
#pragma once

#include "arch/percpu_atomic.hpp"

namespace atl::percpu {

struct LocalAccessor {
  template <class W> static W read(const W* p) { return arch::percpu_read(p); }
  template <class W> static void write(W* p, W value) { arch::percpu_write(p, value); }
  template <class W> static void add(W* p, W value) { arch::percpu_add(p, value); }
  template <class W> static W add_return(W* p, W value) { return arch::percpu_add_return(p, value); }
  template <class W> static void bit_and(W* p, W value) { arch::percpu_and(p, value); }
  template <class W> static void bit_or(W* p, W value) { arch::percpu_or(p, value); }
  template <class W> static W exchange(W* p, W value) { return arch::percpu_exchange(p, value); }
  template <class W> static W compare_exchange(W* p, W expected, W desired) {
    return arch::percpu_compare_exchange(p, expected, desired);
  }
};

}  // namespace atl::percpu
