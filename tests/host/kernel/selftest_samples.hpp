#pragma once

#include <array>

#include "kernel/selftest.hpp"

namespace atoll {

extern const std::array<const Selftest*, 6> kSelftestSamples;

}  // namespace atoll
