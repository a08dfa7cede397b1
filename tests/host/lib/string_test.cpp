#include "lib/string.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/host/support.hpp"

namespace atl {
namespace {

constexpr usize kSpace = 160;
using Bytes = std::array<u8, kSpace>;

Bytes random_bytes(std::mt19937& random) {
  Bytes bytes;
  std::ranges::generate(bytes, [&] { return static_cast<u8>(random()); });
  return bytes;
}

/// Every offset pair modulo 16 and every length to 72: head, 16-byte turns and tail in all mixtures. The
/// whole space is compared, so a byte written outside shows. UBSan checks that accesses are aligned.
TEST(String, CopyAtAllAlignments) {
  std::mt19937 random(1);
  for (usize to = 0; to < 16; ++to) {
    for (usize from = 0; from < 16; ++from) {
      for (usize size = 0; size <= 72; ++size) {
        alignas(16) const Bytes source = random_bytes(random);
        alignas(16) Bytes actual = random_bytes(random);
        Bytes expected = actual;
        std::memcpy(expected.data() + 40 + to, source.data() + from, size);
        ASSERT_EQ(libc::memcpy(actual.data() + 40 + to, source.data() + from, size), actual.data() + 40 + to);
        ASSERT_EQ(actual, expected) << "to " << to << " from " << from << " size " << size;
      }
    }
  }
}

TEST(String, MoveWithAllOverlaps) {
  std::mt19937 random(2);
  for (usize from = 40; from < 56; ++from) {
    for (usize to = 16; to < 88; ++to) {
      for (usize size : {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 64}) {
        alignas(16) Bytes actual = random_bytes(random);
        Bytes expected = actual;
        std::memmove(expected.data() + to, expected.data() + from, size);
        ASSERT_EQ(libc::memmove(actual.data() + to, actual.data() + from, size), actual.data() + to);
        ASSERT_EQ(actual, expected) << "to " << to << " from " << from << " size " << size;
      }
    }
  }
}

TEST(String, SetAtAllAlignments) {
  std::mt19937 random(3);
  for (usize to = 0; to < 16; ++to) {
    for (usize size = 0; size <= 72; ++size) {
      for (int byte : {0, 0xa5, 0x1ff}) {
        alignas(16) Bytes actual = random_bytes(random);
        Bytes expected = actual;
        std::memset(expected.data() + 40 + to, byte, size);
        ASSERT_EQ(libc::memset(actual.data() + 40 + to, byte, size), actual.data() + 40 + to);
        ASSERT_EQ(actual, expected) << "to " << to << " size " << size;
      }
    }
  }
}

TEST(String, CompareBytes) {
  const char low[] = "ab\x7f", high[] = "ab\x80";
  EXPECT_EQ(libc::memcmp(low, high, 2), 0);
  EXPECT_LT(libc::memcmp(low, high, 3), 0) << "bytes are unsigned";
  EXPECT_GT(libc::memcmp(high, low, 3), 0);
  EXPECT_EQ(libc::memcmp(low, high, 0), 0);
}

TEST(String, FindBytes) {
  const char bytes[] = {'a', '\0', '\xff', 'a'};
  EXPECT_EQ(libc::memchr(bytes, 0xff, 4), bytes + 2);
  EXPECT_EQ(libc::memchr(bytes, 0, 4), bytes + 1);
  EXPECT_EQ(libc::memchr(bytes, 'a', 4), bytes);
  EXPECT_EQ(libc::memchr(bytes, 0xff, 2), nullptr);
}

TEST(String, Lengths) {
  EXPECT_EQ(libc::strlen(""), 0u);
  EXPECT_EQ(libc::strlen("abc"), 3u);
  const char unterminated[] = {'a', 'b'};
  EXPECT_EQ(libc::strnlen(unterminated, 2), 2u);
  EXPECT_EQ(libc::strnlen("abc", 10), 3u);
  EXPECT_EQ(libc::strnlen(nullptr, 0), 0u);
}

TEST(String, FindCharacters) {
  const char* path = "/soc/uart@1";
  EXPECT_EQ(libc::strchr(path, '/'), path);
  EXPECT_EQ(libc::strrchr(path, '/'), path + 4);
  EXPECT_EQ(libc::strchr(path, '!'), nullptr);
  EXPECT_EQ(libc::strrchr(path, '!'), nullptr);
  EXPECT_EQ(libc::strchr(path, '\0'), path + 11);
  EXPECT_EQ(libc::strrchr(path, '\0'), path + 11);
}

TEST(String, CompareStrings) {
  EXPECT_EQ(libc::strcmp("abc", "abc"), 0);
  EXPECT_LT(libc::strcmp("ab", "abc"), 0);
  EXPECT_GT(libc::strcmp("abc", "ab"), 0);
  EXPECT_LT(libc::strcmp("a", "\x80"), 0) << "characters compare unsigned";
  EXPECT_EQ(libc::strncmp("abcd", "abce", 3), 0);
  EXPECT_LT(libc::strncmp("abcd", "abce", 4), 0);
  EXPECT_EQ(libc::strncmp("ab", "ab", 10), 0);
  EXPECT_EQ(libc::strncmp("a", "b", 0), 0);
}

TEST(String, NumbersAsTheHostReadsThem) {
  for (const char* text :
       {"0", "42", " \t-7", "+9", "0x1F", "0X", "0xg", "077", "08", "zz", "", " ", "-", "12ab",
        "18446744073709551615", "18446744073709551616", "99999999999999999999999"}) {
    for (int base : {0, 2, 8, 10, 16, 36}) {
      char* end = nullptr;
      char* host_end = nullptr;
      EXPECT_EQ(libc::strtoul(text, &end, base), std::strtoul(text, &host_end, base))
          << text << " base " << base;
      EXPECT_EQ(end, host_end) << text << " base " << base;
    }
  }
  EXPECT_EQ(libc::strtoul("17", nullptr, 10), 17u);
}

}  // namespace
}  // namespace atl
