// Both variants, all widths: each operation does what it says, and to nothing but its word.
#include "percpu/accessor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/host/fake/percpu_units.hpp"

namespace atl::percpu {
namespace {

template <class A, class W>
struct Case {
  using Variant = A;
  using Word = W;
};

ATOLL_PER_CPU ThreadState thread;
/// A word between two canaries, 8-byte aligned so that a wider access stays inside.
template <class W>
struct alignas(8) Guarded {
  std::array<W, 2> before;
  W word;
  std::array<W, 5> after;
};
ATOLL_PER_CPU Guarded<u8> guarded_8{};
ATOLL_PER_CPU Guarded<u16> guarded_16{};
ATOLL_PER_CPU Guarded<u32> guarded_32{};
ATOLL_PER_CPU Guarded<u64> guarded_64{};

template <class W>
Guarded<W>& guarded() {
  if constexpr (sizeof(W) == 1)
    return guarded_8;
  else if constexpr (sizeof(W) == 2)
    return guarded_16;
  else if constexpr (sizeof(W) == 4)
    return guarded_32;
  else
    return guarded_64;
}

template <class C>
class PerCpuAccessorTest : public testing::Test {
 protected:
  using A = typename C::Variant;
  using W = typename C::Word;
  static constexpr W kCanary = static_cast<W>(0xa5c3'5a3c'a5c3'5a3c);

  PerCpuAccessorTest() {
    arch::set_current(&thread);
    set(0);
  }
  void set(W value) {
    guarded<W>().before.fill(kCanary);
    guarded<W>().after.fill(kCanary);
    guarded<W>().word = value;
  }
  W* word() { return &guarded<W>().word; }
  /// The word is `value`, and its neighbours are as before.
  void expect(W value, const char* operation) {
    EXPECT_EQ(guarded<W>().word, value) << operation;
    for (const auto& canaries : {std::span<W>(guarded<W>().before), std::span<W>(guarded<W>().after)}) {
      for (const W canary : canaries) {
        EXPECT_EQ(canary, kCanary) << 8 * sizeof(W) << "-bit " << operation << " wrote beside its word";
      }
    }
  }
};

using Cases = testing::Types<Case<LocalAccessor, u8>, Case<LocalAccessor, u16>, Case<LocalAccessor, u32>,
                             Case<LocalAccessor, u64>, Case<PreemptAccessor, u8>, Case<PreemptAccessor, u16>,
                             Case<PreemptAccessor, u32>, Case<PreemptAccessor, u64>>;
TYPED_TEST_SUITE(PerCpuAccessorTest, Cases);

TYPED_TEST(PerCpuAccessorTest, OperationsKeepToTheirWord) {
  using A = typename TypeParam::Variant;
  using W = typename TypeParam::Word;
  constexpr W kOnes = static_cast<W>(~W{0});

  this->set(kOnes);
  EXPECT_EQ(A::read(static_cast<const W*>(this->word())), kOnes);
  A::write(this->word(), W{7});
  this->expect(7, "write");
  // Carries and borrows out of the word must not reach the next one.
  this->set(kOnes);
  A::add(this->word(), W{2});
  this->expect(1, "add");
  this->set(1);
  EXPECT_EQ(A::add_return(this->word(), kOnes), W{0});
  this->expect(0, "add_return");
  this->set(kOnes);
  A::bit_and(this->word(), W{0x5a});
  this->expect(0x5a, "and");
  A::bit_or(this->word(), W{0x05});
  this->expect(0x5f, "or");
  EXPECT_EQ(A::exchange(this->word(), kOnes), W{0x5f});
  this->expect(kOnes, "exchange");
  EXPECT_EQ(A::compare_exchange(this->word(), kOnes, W{3}), kOnes);
  this->expect(3, "compare_exchange");
  EXPECT_EQ(A::compare_exchange(this->word(), kOnes, W{9}), W{3});
  this->expect(3, "failed compare_exchange");
}

TYPED_TEST(PerCpuAccessorTest, AgreesWithAModelOverALongRun) {
  using A = typename TypeParam::Variant;
  using W = typename TypeParam::Word;
  std::mt19937_64 random(20);
  W model = 0;
  for (int i = 0; i < 20'000; ++i) {
    const W operand = static_cast<W>(random());
    switch (random() % 8) {
      case 0:
        A::write(this->word(), operand);
        model = operand;
        break;
      case 1:
        A::add(this->word(), operand);
        model = static_cast<W>(model + operand);
        break;
      case 2:
        model = static_cast<W>(model + operand);
        ASSERT_EQ(A::add_return(this->word(), operand), model);
        break;
      case 3:
        A::bit_and(this->word(), operand);
        model = static_cast<W>(model & operand);
        break;
      case 4:
        A::bit_or(this->word(), operand);
        model = static_cast<W>(model | operand);
        break;
      case 5:
        ASSERT_EQ(A::exchange(this->word(), operand), model);
        model = operand;
        break;
      case 6:
        ASSERT_EQ(A::compare_exchange(this->word(), model, operand), model);
        model = operand;
        break;
      default: ASSERT_EQ(A::compare_exchange(this->word(), static_cast<W>(model + 1), operand), model); break;
    }
    ASSERT_EQ(A::read(static_cast<const W*>(this->word())), model);
  }
  this->expect(model, "long run");
}

template <class A>
class PerCpuPairAccessorTest : public testing::Test {};
using Variants = testing::Types<LocalAccessor, PreemptAccessor>;
TYPED_TEST_SUITE(PerCpuPairAccessorTest, Variants);

ATOLL_PER_CPU u128 pair;

TYPED_TEST(PerCpuPairAccessorTest, ComparesBothHalves) {
  arch::set_current(&thread);
  const u128 old = u128{0x1111} << 64 | 0x2222;
  const u128 low_differs = old ^ 1;
  const u128 high_differs = old ^ u128 { 1 } << 64;
  pair = old;
  EXPECT_TRUE(TypeParam::compare_exchange(&pair, low_differs, u128{5}) == old);
  EXPECT_TRUE(TypeParam::compare_exchange(&pair, high_differs, u128{5}) == old);
  EXPECT_TRUE(pair == old);
  EXPECT_TRUE(TypeParam::compare_exchange(&pair, old, u128{5}) == old);
  EXPECT_TRUE(pair == 5);
}

}  // namespace
}  // namespace atl::percpu
