// The build's choices as constants. Besides lib/fault.hpp this is the one place where the
// preprocessor symbols that the Makefile passes are read; everything else uses these names.
#pragma once

#include "lib/types.hpp"

namespace atl {

/// How `this_cpu` operations find their data (Makefile: PERCPU=).
enum class PerCpuAccessor : u8 { local, preempt };

// The host test binary instantiates all configurations itself; the values below only choose
// what the aliases `KernelGeometry` and `KernelLayout` name there.
#ifndef ATOLL_PAGE_KIB
#define ATOLL_PAGE_KIB 4
#define ATOLL_VA_BITS 48
#define ATOLL_PERCPU local
#define ATOLL_DEBUG 1
#endif

inline constexpr unsigned kConfigPageKib = ATOLL_PAGE_KIB;
inline constexpr unsigned kConfigVaBits = ATOLL_VA_BITS;
inline constexpr PerCpuAccessor kConfigPerCpu = PerCpuAccessor::ATOLL_PERCPU;
/// Lock ranks, poisoning, token and address checks. Published figures are taken with this off.
inline constexpr bool kDebug = ATOLL_DEBUG != 0;

#if defined(__clang__)
inline constexpr const char* kCompilerName = "clang";
#else
inline constexpr const char* kCompilerName = "gcc";
#endif

/// The most CPUs any configuration has room for: the global window holds this many units at
/// every page and VA size (docs/memory-layout.md; `mm/layout.hpp` asserts it).
inline constexpr unsigned kMaxCpus = 512;

}  // namespace atl
