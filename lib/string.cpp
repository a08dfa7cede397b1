#include "lib/string.hpp"

#include "lib/address.hpp"

namespace atl::libc {
namespace {

/// Eight bytes of anything: exempt from type-based alias analysis, as char is.
using Word [[gnu::may_alias]] = u64;

bool same_phase(const void* a, const void* b) {
  return is_aligned(reinterpret_cast<u64>(a) ^ reinterpret_cast<u64>(b), sizeof(Word));
}
bool at_word(const void* p) { return is_aligned(reinterpret_cast<u64>(p), sizeof(Word)); }

/// Ascending. Right for overlap with `to` below `from`: in one phase they are at least a word apart, and
/// each turn loads before it stores.
void copy_up(u8* to, const u8* from, usize size) {
  if (same_phase(to, from)) {
    for (; size != 0 && !at_word(to); --size) *to++ = *from++;
    for (; size >= 2 * sizeof(Word); size -= 2 * sizeof(Word)) {
      const Word low = reinterpret_cast<const Word*>(from)[0];
      const Word high = reinterpret_cast<const Word*>(from)[1];
      reinterpret_cast<Word*>(to)[0] = low;
      reinterpret_cast<Word*>(to)[1] = high;
      to += 2 * sizeof(Word);
      from += 2 * sizeof(Word);
    }
  }
  for (; size != 0; --size) *to++ = *from++;
}

/// Descending, with the ends just past the ranges: the mirror image, for `to` above `from`.
void copy_down(u8* to_end, const u8* from_end, usize size) {
  if (same_phase(to_end, from_end)) {
    for (; size != 0 && !at_word(to_end); --size) *--to_end = *--from_end;
    for (; size >= 2 * sizeof(Word); size -= 2 * sizeof(Word)) {
      to_end -= 2 * sizeof(Word);
      from_end -= 2 * sizeof(Word);
      const Word low = reinterpret_cast<const Word*>(from_end)[0];
      const Word high = reinterpret_cast<const Word*>(from_end)[1];
      reinterpret_cast<Word*>(to_end)[0] = low;
      reinterpret_cast<Word*>(to_end)[1] = high;
    }
  }
  for (; size != 0; --size) *--to_end = *--from_end;
}

/// The value of a digit in bases up to 36, or 36 for anything else.
unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'z') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'Z') return static_cast<unsigned>(c - 'A') + 10;
  return 36;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

void* memcpy(void* to, const void* from, usize size) {
  copy_up(static_cast<u8*>(to), static_cast<const u8*>(from), size);
  return to;
}

void* memmove(void* to, const void* from, usize size) {
  u8* const out = static_cast<u8*>(to);
  const u8* const in = static_cast<const u8*>(from);
  // Unsigned distance: `to` below `from` wraps to something huge, so one test finds the overlap above.
  if (reinterpret_cast<u64>(out) - reinterpret_cast<u64>(in) >= size) {
    copy_up(out, in, size);
  } else {
    copy_down(out + size, in + size, size);
  }
  return to;
}

void* memset(void* to, int byte, usize size) {
  u8* out = static_cast<u8*>(to);
  const u8 value = static_cast<u8>(byte);
  const Word word = u64{value} * 0x0101'0101'0101'0101;
  for (; size != 0 && !at_word(out); --size) *out++ = value;
  for (; size >= 2 * sizeof(Word); size -= 2 * sizeof(Word)) {
    reinterpret_cast<Word*>(out)[0] = word;
    reinterpret_cast<Word*>(out)[1] = word;
    out += 2 * sizeof(Word);
  }
  for (; size != 0; --size) *out++ = value;
  return to;
}

int memcmp(const void* a, const void* b, usize size) {
  const u8* left = static_cast<const u8*>(a);
  const u8* right = static_cast<const u8*>(b);
  for (; size != 0; --size, ++left, ++right) {
    if (*left != *right) return *left - *right;
  }
  return 0;
}

void* memchr(const void* bytes, int byte, usize size) {
  const u8* at = static_cast<const u8*>(bytes);
  for (; size != 0; --size, ++at) {
    if (*at == static_cast<u8>(byte)) return const_cast<u8*>(at);
  }
  return nullptr;
}

usize strlen(const char* text) {
  usize length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

usize strnlen(const char* text, usize limit) {
  usize length = 0;
  while (length < limit && text[length] != '\0') ++length;
  return length;
}

char* strchr(const char* text, int c) {
  for (;; ++text) {
    if (*text == static_cast<char>(c)) return const_cast<char*>(text);
    if (*text == '\0') return nullptr;
  }
}

char* strrchr(const char* text, int c) {
  const char* last = nullptr;
  for (;; ++text) {
    if (*text == static_cast<char>(c)) last = text;
    if (*text == '\0') return const_cast<char*>(last);
  }
}

int strcmp(const char* a, const char* b) { return strncmp(a, b, ~usize{0}); }

int strncmp(const char* a, const char* b, usize limit) {
  for (; limit != 0; --limit, ++a, ++b) {
    if (*a != *b) return static_cast<u8>(*a) - static_cast<u8>(*b);
    if (*a == '\0') break;
  }
  return 0;
}

unsigned long strtoul(const char* text, char** end, int base) {
  const char* at = text;
  while (is_space(*at)) ++at;
  const bool negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  const bool hex_prefix = at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && digit_value(at[2]) < 16;
  if ((base == 0 || base == 16) && hex_prefix) {
    at += 2;
    base = 16;
  }
  if (base == 0) base = *at == '0' ? 8 : 10;

  const unsigned radix = static_cast<unsigned>(base);
  const char* const first = at;
  unsigned long value = 0;
  bool overflow = false;
  for (; digit_value(*at) < radix; ++at) {
    overflow = __builtin_mul_overflow(value, radix, &value) || overflow;
    overflow = __builtin_add_overflow(value, digit_value(*at), &value) || overflow;
  }
  if (end != nullptr) *end = const_cast<char*>(at == first ? text : at);
  if (overflow) return ~0ul;
  return negative ? 0 - value : value;
}

}  // namespace atl::libc
