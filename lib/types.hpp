// Short names for the fixed-width integers, as the field writes them, and size literals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// The C library has a function of this name in the global namespace, and <algorithm> (also when
// freestanding) and <libfdt.h> bring it in. <cstdlib> is read above, once; from here on the word
// means the project's namespace. Every header that opens the namespace includes this one first.
#define atoll atoll_os

namespace atoll {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
using usize = std::size_t;
__extension__ using u128 = unsigned __int128;

consteval u64 operator""_KiB(unsigned long long n) { return n << 10; }
consteval u64 operator""_MiB(unsigned long long n) { return n << 20; }
consteval u64 operator""_GiB(unsigned long long n) { return n << 30; }
consteval u64 operator""_TiB(unsigned long long n) { return n << 40; }

}  // namespace atoll
