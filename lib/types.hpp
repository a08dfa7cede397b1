// Short names for the fixed-width integers, as the field writes them, and size literals.
//
// The project's namespace is `atl`: `atoll` is a function of the C library (docs/decisions/0008-the-namespace-atl.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace atl {

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

}  // namespace atl
