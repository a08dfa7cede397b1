#include "percpu/operations.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace atl::percpu {
namespace {

/// The simplest holder: operations on a word of its own.
template <class T>
class Holder : public PerCpuOperations<Holder<T>, T> {
 public:
  T* local() const { return &word; }
  mutable T word{};
};

enum class Color : u8 { red, green = 200 };
struct alignas(8) Two {
  u32 a, b;
  friend bool operator==(const Two&, const Two&) = default;
};
struct alignas(16) Head {
  const char* pointer;
  u64 generation;
  friend bool operator==(const Head&, const Head&) = default;
};
struct Big {
  u64 words[3];
};

template <class H>
concept CanRead = requires(H h) { h.read(); };
template <class H>
concept CanAdd = requires(H h) { h.add(1); };
template <class H, class T>
concept CanCompare = requires(H h, T t) { h.compare_exchange(t, t); };
static_assert(CanRead<Holder<Color>> && !CanAdd<Holder<Color>> && !CanAdd<Holder<bool>> &&
              CanAdd<Holder<i64>>);
static_assert(!CanRead<Holder<Head>> && CanCompare<Holder<Head>, Head>, "128 bits: compare_exchange only");
static_assert(!CanRead<Holder<Big>> && !CanCompare<Holder<Big>, Big>);

TEST(PerCpuOperations, SignedNumbersWrapAndSubtract) {
  Holder<std::int16_t> h;
  h.sub(1);
  EXPECT_EQ(h.read(), -1);
  h.sub(-3);
  EXPECT_EQ(h.read(), 2);
  h.write(std::numeric_limits<std::int16_t>::max());
  EXPECT_EQ(h.add_return(1), std::numeric_limits<std::int16_t>::min());
}

TEST(PerCpuOperations, BitsAreSetAndCleared) {
  Holder<u64> h;
  h.or_bits(u64{1} << 63 | 1);
  h.and_bits(~u64{1});
  EXPECT_EQ(h.read(), u64{1} << 63);
}

TEST(PerCpuOperations, AnythingOfOneWordCanBeExchanged) {
  Holder<Color> color;
  EXPECT_EQ(color.exchange(Color::green), Color::red);
  EXPECT_EQ(color.read(), Color::green);

  int target = 0;
  Holder<int*> pointer;
  EXPECT_EQ(pointer.compare_exchange(nullptr, &target), nullptr);
  EXPECT_EQ(pointer.read(), &target);

  Holder<Two> two;
  two.write({1, 2});
  EXPECT_EQ(two.compare_exchange({1, 2}, {3, 4}), (Two{1, 2}));
  EXPECT_EQ(two.read(), (Two{3, 4}));
}

TEST(PerCpuOperations, TryCompareExchangeTellsAndCorrects) {
  Holder<u32> h;
  u32 expected = 4;
  EXPECT_FALSE(h.try_compare_exchange(expected, 9));
  EXPECT_EQ(expected, 0u);
  EXPECT_TRUE(h.try_compare_exchange(expected, 9));
  EXPECT_EQ(h.read(), 9u);
}

TEST(PerCpuOperations, PairsMoveTogether) {
  Holder<Head> head;
  Head expected{nullptr, 1};
  EXPECT_FALSE(head.try_compare_exchange(expected, {"a", 2}));
  EXPECT_EQ(expected, (Head{nullptr, 0}));
  EXPECT_TRUE(head.try_compare_exchange(expected, {"a", 1}));
  EXPECT_EQ(head.word.generation, 1u);
}

}  // namespace
}  // namespace atl::percpu
