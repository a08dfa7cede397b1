// Names for clang's thread-safety attributes: errors with LLVM=1, nothing under GCC.
#pragma once

#include "lib/config.hpp"

namespace atl {
#if defined(__clang__)
#define ATOLL_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define ATOLL_THREAD_ATTRIBUTE(x)
#endif
}  // namespace atl

/// On a class: it is a lock, named so in messages. On one that holds it from construction to destruction: scoped.
#define ATOLL_LOCK_TYPE(name) ATOLL_THREAD_ATTRIBUTE(capability(name))
#define ATOLL_SCOPED_LOCK ATOLL_THREAD_ATTRIBUTE(scoped_lockable)
/// On data: which lock must be held to touch it.
#define ATOLL_GUARDED_BY(lock) ATOLL_THREAD_ATTRIBUTE(guarded_by(lock))
/// On functions: what they take, release, or need held.
#define ATOLL_ACQUIRES(...) ATOLL_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ATOLL_RELEASES(...) ATOLL_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define ATOLL_REQUIRES(...) ATOLL_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
/// On a lock's own body, which the analysis cannot follow.
#define ATOLL_UNCHECKED ATOLL_THREAD_ATTRIBUTE(no_thread_safety_analysis)
