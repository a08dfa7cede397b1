// Shell-like patterns for names: `*` any text, `?` any one character.
#pragma once

#include <string_view>

#include "lib/types.hpp"

namespace atl {

/// The whole of `text` matches. At most |pattern| * |text| steps: only the last `*` is ever retried, since
/// what an earlier one could still take, the last one can take as well.
constexpr bool glob_match(std::string_view pattern, std::string_view text) {
  usize p = 0;
  usize t = 0;
  usize star = std::string_view::npos;
  usize star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace atl
