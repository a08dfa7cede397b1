// For instructions that may fault (arch-arm64/fixup_table.hpp).
#pragma once

/// Text for the end of an assembly statement: a fault of the instruction at label `fault` goes on at `resume`.
#define ATOLL_FIXUP(fault, resume)        \
  ".pushsection .fixup_table, \"a\"\n"   \
  ".balign 8\n"                           \
  ".quad " fault ", " resume "\n"         \
  ".popsection\n"
