// A sink that passes everything on to `print`, for what writes to a sink by itself.
#pragma once

#include "lib/format.hpp"

namespace atl {

class PrintSink final : public FormatSink {
 public:
  void write(std::string_view text) override { print_formatted(text); }
};

}  // namespace atl
