#pragma once
#include <string>
#include <string_view>

namespace headrace {

/// A to Z as a to z; everything else as it is, so that no locale decides.
inline std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// A name as it is compared with others: lowered, without spaces, '-' and '_'.
inline std::string folded_name(std::string_view name) {
  std::string out = lowered(name);
  std::erase_if(out, [](char c) { return c == ' ' || c == '-' || c == '_'; });
  return out;
}

}  // namespace headrace
