#include "percpu/lse_patch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/host/fake/events.hpp"
#include "tests/host/support.hpp"

namespace atl::percpu {
namespace {

constexpr u32 kNop = 0xd503201f;
constexpr u32 kRet = 0xd65f03c0;
constexpr u32 kLdxr = 0xc85f7c02;   // ldxr x2, [x0]
constexpr u32 kLdxp = 0xc87f1404;   // ldxp x4, x5, [x0]
constexpr u32 kAdd = 0x8b010042;    // add x2, x2, x1
constexpr u32 kStxr = 0xc8037c02;   // stxr w3, x2, [x0]
constexpr u32 kCbnz = 0x35ffffa3;   // cbnz w3, the ldxr
constexpr u32 kLdadd = 0xf8210002;  // ldadd x1, x2, [x0]

/// A tiny kernel: text with two loops, replacements, a table, and a writable copy standing for the alias.
struct Kernel {
  std::array<u32, 11> text{kRet, kLdxr, kAdd, kStxr, kCbnz, kRet, kLdxr, kAdd, kStxr, kCbnz, kRet};
  std::array<u32, 3> replacements{kLdadd, kLdadd, kAdd};
  std::array<LsePatch, 2> table{};
  std::vector<u32> alias;

  Kernel() {
    table[0] = patch(&text[1], 4, &replacements[0], 1, table[0]);
    table[1] = patch(&text[6], 4, &replacements[1], 2, table[1]);
    alias.assign(text.begin(), text.end());
  }
  static LsePatch patch(const u32* loop, u16 words, const u32* with, u16 with_words, const LsePatch& entry) {
    return {distance(loop, &entry.original), distance(with, &entry.replacement), static_cast<u16>(4 * words),
            static_cast<u16>(4 * with_words)};
  }
  static std::int32_t distance(const void* to, const void* from) {
    return static_cast<std::int32_t>(static_cast<const char*>(to) - static_cast<const char*>(from));
  }
  VirtRange text_range() { return {address_of(text.data()), sizeof(text)}; }
  u32* writable(VirtRange range) { return alias.data() + (range.start - address_of(text.data())) / 4; }
  auto apply() {
    return apply_lse_patches(table, text_range(), [this](VirtRange range) { return writable(range); });
  }
};

TEST(LsePatch, ReplacesEachLoopAndFillsWithNops) {
  Kernel k;
  const auto count = k.apply();
  ASSERT_TRUE(count);
  EXPECT_EQ(count->patched, 2u);
  const std::vector<u32> wanted{kRet, kLdadd, kNop, kNop, kNop, kRet, kLdadd, kAdd, kNop, kNop, kRet};
  EXPECT_EQ(k.alias, wanted) << "the loop's tail is still there";
  EXPECT_EQ(k.text[1], kLdxr) << "wrote to the text itself, not to its alias";
}

TEST(LsePatch, MakesEachPatchedPieceVisible) {
  Kernel k;
  arch::fake::clear_events();
  ASSERT_TRUE(k.apply());
  const std::vector<arch::fake::Event> events = arch::fake::events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].operation, arch::fake::Operation::sync_instructions);
  EXPECT_EQ(events[0].address, address_of(&k.text[1]).value());
  EXPECT_EQ(events[1].address, address_of(&k.text[6]).value());
}

TEST(LsePatch, AcceptsPairsAndRefusesWhatIsNoLoop) {
  Kernel k;
  k.text[6] = kLdxp;
  EXPECT_TRUE(check_lse_patch(k.table[1], k.text_range()));
  k.text[6] = kAdd;
  EXPECT_FALSE(check_lse_patch(k.table[1], k.text_range()));
  k.text[6] = kLdadd;  // patched already
  EXPECT_FALSE(check_lse_patch(k.table[1], k.text_range()));
}

TEST(LsePatch, OneBadEntryLeavesEverythingAsItWas) {
  const auto refused = [](auto&& spoil) {
    Kernel k;
    const std::vector<u32> before = k.alias;
    spoil(k);
    const auto count = k.apply();
    return !count && count.error() == Error::invalid_argument && k.alias == before;
  };
  EXPECT_TRUE(refused([](Kernel& k) { k.table[1].original += 64; })) << "outside the text";
  EXPECT_TRUE(refused([](Kernel& k) { k.table[1].original += 2; })) << "between instructions";
  EXPECT_TRUE(refused([](Kernel& k) { k.table[1].original_bytes = 0; })) << "empty";
  EXPECT_TRUE(refused([](Kernel& k) { k.table[1].original_bytes = 14; })) << "part of an instruction";
  EXPECT_TRUE(refused([](Kernel& k) { k.table[1].replacement_bytes = 20; })) << "longer than the loop";
  EXPECT_TRUE(refused([](Kernel& k) { k.table[1].replacement_bytes = 0; })) << "nothing in its place";
  EXPECT_TRUE(refused([](Kernel& k) {
    k.table[1].replacement = Kernel::distance(&k.text[0], &k.table[1].replacement);
  })) << "a replacement that runs in place";
}

}  // namespace
}  // namespace atl::percpu
