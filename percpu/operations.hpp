// The `this_cpu` operations as members, shared by PerCpu<T> (a variable) and PerCpuPtr<T> (an address).
#pragma once

#include <bit>
#include <concepts>
#include <type_traits>

#include "percpu/accessor.hpp"

namespace atl::percpu {

template <usize Bytes> struct WordOfBytes;
template <> struct WordOfBytes<1> {
  using Type = u8;
};
template <> struct WordOfBytes<2> {
  using Type = u16;
};
template <> struct WordOfBytes<4> {
  using Type = u32;
};
template <> struct WordOfBytes<8> {
  using Type = u64;
};
template <> struct WordOfBytes<16> {
  using Type = u128;
};

/// What one access can move: integers, enums, pointers, bool, small structs.
template <class T>
concept Scalar = std::is_trivially_copyable_v<T> && alignof(T) == sizeof(T) &&
                 (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
/// What compare_exchange can move besides: a pointer and a generation, say. `alignas(16)`.
template <class T>
concept Pair = std::is_trivially_copyable_v<T> && alignof(T) == 16 && sizeof(T) == 16;
template <class T>
concept Integer = Scalar<T> && std::integral<T> && !std::same_as<T, bool>;

template <class T>
using WordOf = typename WordOfBytes<sizeof(T)>::Type;

/// The bytes of a value as an unsigned number.
template <class T>
constexpr WordOf<T> to_word(T v) {
  return std::bit_cast<WordOf<T>>(v);
}

/// `Self` has `T* local() const`. Members are const because Self only names memory; each is one operation on the
/// executing CPU's copy, not interrupted by this CPU's own interrupts, ordered with nothing. Any context.
template <class Self, class T>
class PerCpuOperations {
 public:
  T read() const
    requires Scalar<T>
  {
    return std::bit_cast<T>(Accessor::read(memory()));
  }
  void write(T v) const
    requires Scalar<T>
  {
    Accessor::write(memory(), to_word(v));
  }

  /// Modulo 2^bits.
  void add(T n) const
    requires Integer<T>
  {
    Accessor::add(memory(), to_word(n));
  }
  void sub(T n) const
    requires Integer<T>
  {
    Accessor::add(memory(), static_cast<WordOf<T>>(-to_word(n)));
  }
  /// The new value.
  T add_return(T n) const
    requires Integer<T>
  {
    return std::bit_cast<T>(Accessor::add_return(memory(), to_word(n)));
  }
  void and_bits(T bits) const
    requires Integer<T>
  {
    Accessor::bit_and(memory(), to_word(bits));
  }
  void or_bits(T bits) const
    requires Integer<T>
  {
    Accessor::bit_or(memory(), to_word(bits));
  }

  /// The old value.
  T exchange(T v) const
    requires Scalar<T>
  {
    return std::bit_cast<T>(Accessor::exchange(memory(), to_word(v)));
  }
  /// Stores `desired` if the copy equals `expected`, byte by byte; gives the old value in either case.
  T compare_exchange(T expected, T desired) const
    requires(Scalar<T> || Pair<T>)
  {
    return std::bit_cast<T>(Accessor::compare_exchange(memory(), to_word(expected), to_word(desired)));
  }
  /// The same, telling whether it stored; if not, `expected` is what was there.
  bool try_compare_exchange(T& expected, T desired) const
    requires(Scalar<T> || Pair<T>)
  {
    const WordOf<T> wanted = to_word(expected);
    const WordOf<T> old = Accessor::compare_exchange(memory(), wanted, to_word(desired));
    if (old == wanted) return true;
    expected = std::bit_cast<T>(old);
    return false;
  }

 private:
  // Not a member type: that would need a word of T's size for every T.
  auto* memory() const { return reinterpret_cast<WordOf<T>*>(static_cast<const Self*>(this)->local()); }
};

}  // namespace atl::percpu
