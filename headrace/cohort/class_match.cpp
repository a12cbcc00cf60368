#include "headrace/cohort/class_match.hpp"

#include <algorithm>

namespace headrace::cohort {

bool ClassMatch::keeps_values() const noexcept {
  if (!ignored.empty()) return false;
  for (std::size_t value = 0; value < seen_as.size(); ++value) {
    if (seen_as[value] != value) return false;
  }
  return true;
}

std::vector<bool> ClassMatch::lacks(const std::vector<std::string>& seen) const {
  std::vector<bool> out;
  for (const std::string& name : seen)
    out.push_back(std::find(missing.begin(), missing.end(), name) != missing.end());
  return out;
}

void ClassMatch::apply(std::span<std::uint8_t> labels) const noexcept {
  for (std::uint8_t& value : labels) value = seen_as[value];
}

namespace {

/// A stored value that is not a class must not become one: the reader then reports it.
constexpr std::uint8_t kNoClass = kIgnoreLabel - 1;

/// Index of a set of the same classes; sets.size() where there is none.
std::size_t find_set(const std::vector<ClassSet>& sets, const std::vector<std::uint8_t>& classes) {
  const auto found = std::find_if(sets.begin(), sets.end(),
                                  [&](const ClassSet& set) { return set.classes == classes; });
  return static_cast<std::size_t>(found - sets.begin());
}

/// The reader's value of a stored set, which is added to `match`; classes are matched already.
std::uint8_t seen_set(const ClassSet& stored, const std::vector<std::string>& seen,
                      ClassMatch& match) {
  ClassSet set{stored.name, {}};
  for (const std::uint8_t c : stored.classes) set.classes.push_back(match.seen_as[c]);
  std::sort(set.classes.begin(), set.classes.end());
  set.classes.erase(std::unique(set.classes.begin(), set.classes.end()), set.classes.end());
  if (set.classes.size() == 1 || set.classes.back() == kIgnoreLabel) return set.classes.back();
  const std::size_t value = seen.size() + find_set(match.sets, set.classes);
  if (value >= kNoClass) return kIgnoreLabel;
  if (value < seen.size() + match.sets.size()) return static_cast<std::uint8_t>(value);
  const auto names = label_names(seen, match.sets);
  while (std::find(names.begin(), names.end(), set.name) != names.end())
    set.name += " of the store";
  match.sets.push_back(std::move(set));
  return static_cast<std::uint8_t>(value);
}

}  // namespace

ClassMatch match_classes(const std::vector<std::string>& stored,
                         const std::vector<std::string>& seen,
                         const std::vector<ClassSet>& stored_sets,
                         const std::vector<ClassSet>& seen_sets) {
  ClassMatch match;
  match.sets = seen_sets;
  match.seen_as.fill(kNoClass);
  match.seen_as[kIgnoreLabel] = kIgnoreLabel;
  for (std::size_t c = 0; c < stored.size(); ++c) {
    auto found = std::find(seen.begin(), seen.end(), stored[c]);
    // Whatever a store calls it ("glass", "Background"), class 0 means none of the others.
    if (c == 0 && found == seen.end()) found = seen.begin();
    match.seen_as[c] =
        found == seen.end() ? kIgnoreLabel : static_cast<std::uint8_t>(found - seen.begin());
    if (found == seen.end()) match.ignored.push_back(stored[c]);
  }
  for (std::size_t k = 0; k < stored_sets.size(); ++k) {
    const std::uint8_t value = seen_set(stored_sets[k], seen, match);
    match.seen_as[stored.size() + k] = value;
    if (value == kIgnoreLabel) match.ignored.push_back(stored_sets[k].name);
  }
  // Where every label keeps its value, values that are not labels may keep theirs too.
  const std::size_t labels = stored.size() + stored_sets.size();
  bool same = labels == seen.size() + match.sets.size();
  for (std::size_t value = 0; value < labels; ++value) same &= match.seen_as[value] == value;
  for (std::size_t value = labels; same && value < kIgnoreLabel; ++value)
    match.seen_as[value] = static_cast<std::uint8_t>(value);
  for (const std::string& name : seen) {
    if (&name == &seen.front()) continue;
    if (std::find(stored.begin(), stored.end(), name) == stored.end())
      match.missing.push_back(name);
  }
  return match;
}

}  // namespace headrace::cohort
