// Waiting for hardware, with a bound: a device that does not answer is an error, not a hang.
#pragma once

namespace atl::arch {

/// Far beyond what any register here needs (QEMU: the first turn), and about a second on real hardware.
inline constexpr unsigned kPollTurns = 10'000'000;

/// Whether `done()` came true within `turns` turns. Any context.
template <class Done>
bool poll(Done done, unsigned turns = kPollTurns) {
  for (unsigned turn = 0; turn < turns; ++turn) {
    if (done()) return true;
  }
  return false;
}

}  // namespace atl::arch
