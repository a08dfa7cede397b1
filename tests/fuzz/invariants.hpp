// What must hold after any bytes were read as a device tree or typed as text. Host only.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/types.hpp"

namespace atl::fuzz {

/// Takes the tree through all pure stages of the boot, the memory map at each page size, and gives the first thing
/// that is not as it must be: none for a tree that is refused with a reason. Reads `tree` from memory that ends where
/// it does, for the address sanitizer to watch.
std::optional<std::string> check_device_tree(std::span<const u8> tree);

/// The same for a command line.
std::optional<std::string> check_command_line(std::string_view text);

/// The same for keys typed at the monitor's prompt.
std::optional<std::string> check_keys(std::string_view keys);

}  // namespace atl::fuzz
