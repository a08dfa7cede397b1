#include "kernel/backtrace.hpp"

#include <array>
#include <vector>

#include "tests/host/support.hpp"

namespace atl {
namespace {

/// Two stacks of 16 records each; a record is {next, return address}.
class Backtrace : public ::testing::Test {
 protected:
  using Record = std::array<u64, 2>;

  VirtAddr at(usize index) { return address_of(&memory_[index]); }
  void link(usize from, usize to, u64 return_address) { memory_[from] = {at(to).value(), return_address}; }
  std::vector<u64> walk(VirtAddr start, usize room = kMaxBacktrace) {
    std::array<u64, kMaxBacktrace> addresses{};
    const std::array stacks{VirtRange{at(0), 256}, VirtRange{at(16), 256}};
    const usize count = walk_frame_records(start, stacks, std::span(addresses).first(room));
    return {addresses.begin(), addresses.begin() + static_cast<long>(count)};
  }

  alignas(16) std::array<Record, 32> memory_{};
  using List = std::vector<u64>;
};

TEST_F(Backtrace, FollowsTheChainToItsEnd) {
  link(2, 5, 100);
  link(5, 9, 200);
  memory_[9] = {0, 300};
  EXPECT_EQ(walk(at(2)), (List{100, 200, 300}));
}

TEST_F(Backtrace, AReturnAddressOfZeroEndsIt) {
  link(2, 5, 100);
  memory_[5] = {0, 0};
  EXPECT_EQ(walk(at(2)), List{100});
}

TEST_F(Backtrace, Case47_CorruptChainsEnd) {
  link(2, 2, 100);  // to itself
  EXPECT_EQ(walk(at(2)), List{100});
  link(5, 2, 200);  // downward
  EXPECT_EQ(walk(at(5)), List{200});
  memory_[3] = {at(4).value() + 4, 300};  // misaligned
  EXPECT_EQ(walk(at(3)), List{300});
  memory_[3] = {0x4141414141414141, 300};  // nowhere
  EXPECT_EQ(walk(at(3)), List{300});
  EXPECT_EQ(walk(VirtAddr(0)), List{});
  EXPECT_EQ(walk(at(0) - 16), List{});
  EXPECT_EQ(walk(at(32) - 8), List{}) << "a record must be wholly inside";
}

TEST_F(Backtrace, CrossesToAnotherStackOnceAndNeverBack) {
  link(20, 3, 100);  // from the emergency stack to the thread's
  link(3, 8, 200);
  link(8, 25, 300);  // and back: a loop
  link(25, 3, 400);
  EXPECT_EQ(walk(at(20)), (List{100, 200, 300}));
}

TEST_F(Backtrace, IsBoundedByTheRoom) {
  for (usize i = 0; i < 15; ++i) link(i, i + 1, i + 1);
  EXPECT_EQ(walk(at(0), 4), (List{1, 2, 3, 4}));
}

TEST_F(Backtrace, PrintsAddressesWithoutNamesOutsideTheKernel) {
  host::CapturedPrint printed;
  print_backtrace(std::array<u64, 1>{0x1234});
  print_code_address("at ", VirtAddr(0x10));
  EXPECT_EQ(printed.text(), "  0x0000000000001234\nat 0x0000000000000010\n");
}

}  // namespace
}  // namespace atl
