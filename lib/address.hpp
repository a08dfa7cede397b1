// Strong address types. A physical address is never usable as a pointer, and neither kind
// converts to the other or to an integer without a word in the source that says so.
#pragma once

#include <bit>
#include <compare>

#include "lib/types.hpp"

namespace atl {

constexpr bool is_power_of_two(u64 n) { return std::has_single_bit(n); }
/// `align` must be a power of two, here and below. `align_up` wraps to 0 past the last multiple.
constexpr u64 align_down(u64 n, u64 align) { return n & ~(align - 1); }
constexpr u64 align_up(u64 n, u64 align) { return align_down(n + align - 1, align); }
constexpr bool is_aligned(u64 n, u64 align) { return (n & (align - 1)) == 0; }

template <class Tag>
class Address {
 public:
  constexpr Address() = default;
  constexpr explicit Address(u64 value) : value_(value) {}

  constexpr u64 value() const { return value_; }
  constexpr bool is_aligned(u64 align) const { return atl::is_aligned(value_, align); }
  constexpr Address align_down(u64 align) const { return Address(atl::align_down(value_, align)); }
  constexpr Address align_up(u64 align) const { return Address(atl::align_up(value_, align)); }

  constexpr Address& operator+=(u64 n) {
    value_ += n;
    return *this;
  }
  constexpr Address& operator-=(u64 n) {
    value_ -= n;
    return *this;
  }
  friend constexpr Address operator+(Address a, u64 n) { return Address(a.value_ + n); }
  friend constexpr Address operator-(Address a, u64 n) { return Address(a.value_ - n); }
  friend constexpr u64 operator-(Address a, Address b) { return a.value_ - b.value_; }
  friend constexpr auto operator<=>(Address, Address) = default;

 private:
  u64 value_ = 0;
};

using PhysAddr = Address<struct PhysAddrTag>;
using VirtAddr = Address<struct VirtAddrTag>;

/// A virtual address as a pointer: the caller states that it is mapped as T.
template <class T>
T* pointer_to(VirtAddr va) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(va.value()));
}
template <class T>
VirtAddr address_of(T* p) {
  return VirtAddr(static_cast<u64>(reinterpret_cast<std::uintptr_t>(p)));
}

/// Half-open [start, start + size). It may end with the address space, where `end()` is 0, but not go
/// round: whoever makes one has checked that.
template <class A>
struct AddressRange {
  A start;
  u64 size = 0;

  constexpr A end() const { return start + size; }
  constexpr bool empty() const { return size == 0; }
  constexpr bool contains(A a) const { return a >= start && a - start < size; }
  constexpr bool contains(const AddressRange& r) const {
    return r.empty() || (contains(r.start) && r.size <= size - (r.start - start));
  }
  constexpr bool overlaps(const AddressRange& r) const {
    return !empty() && !r.empty() && (contains(r.start) || r.contains(start));
  }
  friend constexpr bool operator==(const AddressRange&, const AddressRange&) = default;
};

using PhysRange = AddressRange<PhysAddr>;
using VirtRange = AddressRange<VirtAddr>;

}  // namespace atl
