// What the libFuzzer targets share. Host only.
#pragma once

#include <optional>
#include <string>

namespace atl::fuzz {

/// Ends the program with the text if there is one. libFuzzer takes that for a crash, and keeps the input.
void require_none(const std::optional<std::string>& broken);

}  // namespace atl::fuzz
