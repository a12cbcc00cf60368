#include "headrace/source/class_match.hpp"

#include <algorithm>

namespace headrace::source {

bool ClassMatch::keeps_values() const noexcept {
  if (!ignored.empty()) return false;
  for (std::size_t value = 0; value < seen_as.size(); ++value) {
    if (seen_as[value] != value) return false;
  }
  return true;
}

void ClassMatch::apply(std::span<std::uint8_t> labels) const noexcept {
  for (std::uint8_t& value : labels) value = seen_as[value];
}

ClassMatch match_classes(const std::vector<std::string>& stored,
                         const std::vector<std::string>& seen) {
  ClassMatch match;
  // A stored value that is not a class must not become one: whoever reads it then says so.
  constexpr std::uint8_t kNoClass = kIgnoreLabel - 1;
  for (std::size_t value = 0; value < kIgnoreLabel; ++value)
    match.seen_as[value] = stored == seen ? static_cast<std::uint8_t>(value) : kNoClass;
  match.seen_as[kIgnoreLabel] = kIgnoreLabel;
  for (std::size_t c = 0; c < stored.size(); ++c) {
    auto found = std::find(seen.begin(), seen.end(), stored[c]);
    // Whatever a store calls it ("glass", "Background"), class 0 is what is none of the others.
    if (c == 0 && found == seen.end()) found = seen.begin();
    match.seen_as[c] =
        found == seen.end() ? kIgnoreLabel : static_cast<std::uint8_t>(found - seen.begin());
    if (found == seen.end()) match.ignored.push_back(stored[c]);
  }
  for (const std::string& name : seen) {
    if (&name == &seen.front()) continue;
    if (std::find(stored.begin(), stored.end(), name) == stored.end())
      match.missing.push_back(name);
  }
  return match;
}

}  // namespace headrace::source
