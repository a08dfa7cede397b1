// What compilers and static libraries expect to find by name in a program without a C library.
// Kernel only: a host program has all of it.
//
// Missing on purpose: `__cxa_atexit` and `operator delete`. A global object with a destructor that runs,
// or a class deleted through a base, fails to link; the kernel never ends, and nothing is on a heap.

#include "lib/panic.hpp"
#include "lib/string.hpp"

namespace libc = atl::libc;
using atl::u32;
using atl::u64;
using atl::usize;

extern "C" {

void* memcpy(void* to, const void* from, usize size) { return libc::memcpy(to, from, size); }
void* memmove(void* to, const void* from, usize size) { return libc::memmove(to, from, size); }
void* memset(void* to, int byte, usize size) { return libc::memset(to, byte, size); }
int memcmp(const void* a, const void* b, usize size) { return libc::memcmp(a, b, size); }
void* memchr(const void* bytes, int byte, usize size) { return libc::memchr(bytes, byte, size); }
usize strlen(const char* text) { return libc::strlen(text); }
usize strnlen(const char* text, usize limit) { return libc::strnlen(text, limit); }
char* strchr(const char* text, int c) { return libc::strchr(text, c); }
char* strrchr(const char* text, int c) { return libc::strrchr(text, c); }
int strcmp(const char* a, const char* b) { return libc::strcmp(a, b); }
int strncmp(const char* a, const char* b, usize limit) { return libc::strncmp(a, b, limit); }
unsigned long strtoul(const char* text, char** end, int base) { return libc::strtoul(text, end, base); }

/// The stack protector's canary, for libfdt.a, which Debian compiles with it. A constant is enough there:
/// it catches a parser that overruns its frame, and keeps no attacker out.
u64 __stack_chk_guard = 0x00'0a'ff'0d'5a'c3'96'e1;
[[noreturn]] void __stack_chk_fail() { atl::panic("stack protector: a function overran its frame"); }

/// `assert`, as Boost.Intrusive uses it.
[[noreturn]] void __assert_fail(const char* expression, const char* file, u32 line, const char* function) {
  atl::panic("{}:{}: {}: assertion failed: {}", file, line, function, expression);
}

/// What `std::popcount` becomes without SIMD registers. libgcc's own uses them. Sums of neighbouring fields,
/// each step twice as wide; the multiplication adds the eight bytes up in the highest.
int __popcountdi2(u64 n) {
  n -= n >> 1 & 0x5555'5555'5555'5555;
  n = (n & 0x3333'3333'3333'3333) + (n >> 2 & 0x3333'3333'3333'3333);
  n = (n + (n >> 4)) & 0x0f0f'0f0f'0f0f'0f0f;
  return static_cast<int>(n * 0x0101'0101'0101'0101 >> 56);
}

[[noreturn]] void __cxa_pure_virtual() { atl::panic("pure virtual function called"); }

}  // extern "C"

/// What `std::string_view::substr` calls for a start beyond the end. libstdc++ declares it, noreturn and all.
namespace std {
void __throw_out_of_range_fmt(const char* what, ...) { atl::panic("out of range: {}", what); }
}  // namespace std
