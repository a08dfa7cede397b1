// The kinds of mutation that know a tree's structure (tests/fuzz/mutator.hpp lists them). Host only.
#pragma once

#include <string>

#include "tests/fuzz/flat_tree.hpp"
#include "tests/fuzz/random.hpp"

namespace atl::fuzz {

/// Makes one mutation, and adds to `log` which.
void change_tree(FlatTree& tree, Random& random, std::string& log);

}  // namespace atl::fuzz
