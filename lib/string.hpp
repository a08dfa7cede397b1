// The C library's memory and string functions, in a namespace: on the host they are tested next to the
// real ones; in the kernel lib/runtime.cpp gives them their C names. Contracts are the C standard's.
//
// All of them may run before the MMU is on, when memory is Device memory and an unaligned access
// faults: every load and store is naturally aligned. No SIMD, no allocation, no per-CPU data.
#pragma once

#include "lib/types.hpp"

namespace atl::libc {

/// For ranges that do not overlap. Moves 16 bytes a turn where both ends agree modulo 8.
void* memcpy(void* to, const void* from, usize size);
void* memmove(void* to, const void* from, usize size);
void* memset(void* to, int byte, usize size);
int memcmp(const void* a, const void* b, usize size);
void* memchr(const void* bytes, int byte, usize size);

usize strlen(const char* text);
usize strnlen(const char* text, usize limit);
char* strchr(const char* text, int c);
char* strrchr(const char* text, int c);
int strcmp(const char* a, const char* b);
int strncmp(const char* a, const char* b, usize limit);

/// Bases 0 and 2..36, as C's `strtoul`, but there is no errno: out of range gives ~0.
unsigned long strtoul(const char* text, char** end, int base);

}  // namespace atl::libc
