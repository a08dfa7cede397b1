#pragma once

#include <array>

#include "kernel/selftest.hpp"

namespace atl {

extern const std::array<const Selftest*, 6> kSelftestSamples;

}  // namespace atl
