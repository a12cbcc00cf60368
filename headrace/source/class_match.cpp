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

namespace {

/// Where a set of the same classes is; sets.size() where none is.
std::size_t find_set(const std::vector<ClassSet>& sets, const std::vector<std::uint8_t>& classes) {
  const auto found = std::find_if(sets.begin(), sets.end(),
                                  [&](const ClassSet& set) { return set.classes == classes; });
  return static_cast<std::size_t>(found - sets.begin());
}

}  // namespace

ClassMatch match_classes(const std::vector<std::string>& stored,
                         const std::vector<std::string>& seen,
                         const std::vector<ClassSet>& stored_sets,
                         const std::vector<ClassSet>& seen_sets) {
  ClassMatch match;
  match.sets = seen_sets;
  // A stored value that is not a class must not become one: whoever reads it then says so.
  constexpr std::uint8_t kNoClass = kIgnoreLabel - 1;
  const bool same = stored == seen && stored_sets == seen_sets;
  for (std::size_t value = 0; value < kIgnoreLabel; ++value)
    match.seen_as[value] = same ? static_cast<std::uint8_t>(value) : kNoClass;
  match.seen_as[kIgnoreLabel] = kIgnoreLabel;
  for (std::size_t c = 0; c < stored.size(); ++c) {
    auto found = std::find(seen.begin(), seen.end(), stored[c]);
    // Whatever a store calls it ("glass", "Background"), class 0 is what is none of the others.
    if (c == 0 && found == seen.end()) found = seen.begin();
    match.seen_as[c] =
        found == seen.end() ? kIgnoreLabel : static_cast<std::uint8_t>(found - seen.begin());
    if (found == seen.end()) match.ignored.push_back(stored[c]);
  }
  for (std::size_t k = 0; k < stored_sets.size(); ++k) {
    ClassSet set{stored_sets[k].name, {}};
    for (const std::uint8_t c : stored_sets[k].classes) set.classes.push_back(match.seen_as[c]);
    std::sort(set.classes.begin(), set.classes.end());
    std::uint8_t& value = match.seen_as[stored.size() + k];
    value = kIgnoreLabel;
    const std::size_t at = find_set(match.sets, set.classes);
    const bool known = set.classes.back() != kIgnoreLabel;
    if (known && seen.size() + at < kNoClass) {
      value = static_cast<std::uint8_t>(seen.size() + at);
      if (at < match.sets.size()) continue;
      const auto names = label_names(seen, match.sets);
      while (std::find(names.begin(), names.end(), set.name) != names.end())
        set.name += " of the store";
      match.sets.push_back(std::move(set));
    } else {
      match.ignored.push_back(set.name);
    }
  }
  for (const std::string& name : seen) {
    if (&name == &seen.front()) continue;
    if (std::find(stored.begin(), stored.end(), name) == stored.end())
      match.missing.push_back(name);
  }
  return match;
}

}  // namespace headrace::source
