// The inline part of arch/mmu.hpp.
#pragma once

#include "arch/mmu.hpp"

namespace atl::arch {

inline void publish_table() { asm volatile("dsb ishst" ::: "memory"); }
inline void publish_descriptor() { asm volatile("dsb ishst\n isb" ::: "memory"); }

}  // namespace atl::arch
