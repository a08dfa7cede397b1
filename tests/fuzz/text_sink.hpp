// Formatted text at the end of a std::string. Host only.
#pragma once

#include <string>

#include "lib/format.hpp"

namespace atl::fuzz {

class TextSink final : public FormatSink {
 public:
  explicit TextSink(std::string& text) : text_(text) {}
  void write(std::string_view text) override { text_ += text; }

 private:
  std::string& text_;
};

}  // namespace atl::fuzz
