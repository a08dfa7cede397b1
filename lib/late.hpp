// A static object that is made at boot, by hand, and lives for ever: no constructor runs before `emplace`, no
// destructor ever does, so neither static constructors nor an exit list are needed.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "lib/panic.hpp"

namespace atl {

template <class T>
class Late {
 public:
  constexpr Late() = default;
  Late(const Late&) = delete;
  Late& operator=(const Late&) = delete;

  template <class... Args>
  T& emplace(Args&&... args) {
    ATOLL_ASSERT(!made_);
    T* object = ::new (static_cast<void*>(storage_)) T(std::forward<Args>(args)...);
    made_ = true;
    return *object;
  }

  bool made() const { return made_; }
  /// Made, or it panics.
  T& operator*() {
    ATOLL_ASSERT(made_);
    return *std::launder(reinterpret_cast<T*>(storage_));
  }
  T* operator->() { return &**this; }

 private:
  alignas(T) std::byte storage_[sizeof(T)]{};
  bool made_ = false;
};

}  // namespace atl
