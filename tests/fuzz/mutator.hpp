// Device trees with mistakes in them: mutation number N of a base tree, always the same for the same N. Host only.
//
// Kinds, most by the tree's structure, so that what they leave is a tree that only says something else:
//
//   flip_bits         a few bits of a property's value
//   set_number        one or two cells of a value become a number that is a limit somewhere
//   nudge_number      a cell is a little larger or smaller
//   borrow_value      a value is that of another property of the tree
//   misplace          memory, GIC or UART are where something else is, or nothing
//   resize_value      a value is shorter, longer or empty
//   drop_property, repeat_property, rename_property
//   drop_node, repeat_node (up to 200 times), rename_node, move_node (with all that is below it)
//   cell_sizes        #address-cells, #size-cells or #interrupt-cells is another number
//   set_word          a status, method or enable-method is another of the words there are, or nonsense
//   add_memory        another bank: apart, overlapping, over devices, or nowhere
//   add_reservation   /memreserve/ or /reserved-memory entries, one or hundreds
//   boot_arguments    words, quotes and garbage in the command line
//
// and those that need no structure:
//
//   header_field      a cell of the header is another number
//   truncate          the bytes end early
//   flip_bytes        bytes anywhere are others
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/types.hpp"

namespace atl::fuzz {

/// How hard a tree is changed.
struct Severity {
  unsigned most;           ///< mutations of a mutant: 1 to this many
  unsigned bytes_percent;  ///< how many of 100 mutants get one of the kinds without structure, too
};

/// For the parser: anything goes.
inline constexpr Severity kSevere{8, 30};
/// For boots: little enough for most to get past the parser.
inline constexpr Severity kLight{3, 5};

struct Mutant {
  std::vector<u8> bytes;
  std::string description;  ///< the mutations, in order, separated by "; "
};

/// Bytes that are no tree get only the kinds without structure. The result may be larger than the base.
Mutant mutate(std::span<const u8> base, u64 seed, const Severity& severity);

}  // namespace atl::fuzz
