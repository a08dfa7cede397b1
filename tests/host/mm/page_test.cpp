#include "mm/page.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace atl::mm {
namespace {

TEST(Page, ZeroBytesSayThatNothingIsKnown) {
  alignas(Page) std::array<unsigned char, sizeof(Page)> bytes{};
  Page zero;
  std::memcpy(static_cast<void*>(&zero), bytes.data(), sizeof(Page));
  EXPECT_EQ(zero.state, PageState::none);
  EXPECT_EQ(zero.references, 0u);
  EXPECT_EQ(zero.order, 0u);
}

TEST(Page, IsOneCacheLine) {
  EXPECT_EQ(sizeof(Page), 64u);
  EXPECT_EQ(alignof(Page), 64u);
}

}  // namespace
}  // namespace atl::mm
