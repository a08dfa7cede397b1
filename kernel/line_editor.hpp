// A line of input, edited as it is typed, and the ring that the receive interrupt fills.
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <string_view>

#include "lib/types.hpp"

namespace atl {

/// Characters from one interrupt handler to one reader.
class InputRing {
 public:
  /// Handler. False if full.
  bool push(char c) {
    if (full()) return false;
    const u32 head = head_.load(std::memory_order_relaxed);
    characters_[head % kCapacity] = c;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }
  /// Handler.
  bool full() const {
    return head_.load(std::memory_order_relaxed) - tail_.load(std::memory_order_acquire) == kCapacity;
  }
  /// Reader.
  bool empty() const {
    return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_relaxed);
  }
  std::optional<char> pop() {
    if (empty()) return std::nullopt;
    const u32 tail = tail_.load(std::memory_order_relaxed);
    const char c = characters_[tail % kCapacity];
    tail_.store(tail + 1, std::memory_order_release);
    return c;
  }

 private:
  static constexpr u32 kCapacity = 256;  // a pasted line; a power of two, so the counters may wrap

  std::array<char, kCapacity> characters_{};
  std::atomic<u32> head_ = 0;
  std::atomic<u32> tail_ = 0;
};

/// Takes characters one by one and echoes them through `print`. Backspace and DEL take one back, ^U all;
/// ^C cancels; CR, LF or both end the line; other control characters ring the bell, and so does a key that sends an
/// escape sequence (ECMA-48: ESC [, parameters, a final byte), as a whole.
class LineEditor {
 public:
  enum class State : u8 { editing, complete, cancelled };

  explicit LineEditor(std::span<char> buffer) : buffer_(buffer) {}

  State feed(char c);
  std::string_view text() const { return {buffer_.data(), length_}; }

 private:
  /// How far an escape sequence has come.
  enum class Escape : u8 { none, begun, in_sequence };

  bool is_in_escape(char c);
  void erase(usize count);

  std::span<char> buffer_;
  Escape escape_ = Escape::none;
  usize length_ = 0;
};

}  // namespace atl
