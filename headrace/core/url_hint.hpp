#pragma once
#include <cctype>
#include <string_view>

namespace headrace {

/// How a sentence ends that says of a path that nothing is there: of a URL that only local files are
/// taken in this place; of others nothing. A path operator may have made "s3:/b" of "s3://b".
inline std::string_view url_hint(std::string_view path) noexcept {
  const std::size_t colon = path.find(":/");
  if (colon == std::string_view::npos || colon < 2) return "";
  for (const char c : path.substr(0, colon)) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) return "";
  }
  return "; URLs are not read here, so copy it to a folder";
}

}  // namespace headrace
