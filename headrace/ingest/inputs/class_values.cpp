#include "headrace/ingest/inputs/class_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/core/text.hpp"
#include "headrace/ingest/inputs/class_entry.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kMostListed = 12;

class ValueTable {
 public:
  ValueTable(GivenClasses& given, const std::string& option) : given_(given), option_(option) {}

  void state(const ClassEntry& one, std::uint8_t label) {
    for (const std::uint32_t value : one.values()) {
      if (given_.values.try_emplace(value, label).second) continue;
      fail(ErrorCode::usage, "{}: value {} is stated twice", option_, value);
    }
  }
  /// What a value means unless it is stated.
  void otherwise(std::uint32_t value, std::uint8_t label) {
    given_.values.try_emplace(value, label);
  }

 private:
  GivenClasses& given_;
  const std::string& option_;
};

void check_names(const GivenClasses& given, const std::string& option) {
  const std::set<std::string> distinct(given.names.begin(), given.names.end());
  if (given.names.size() > kIgnoreLabel || distinct.size() != given.names.size() ||
      distinct.contains("")) {
    fail(ErrorCode::usage, "{}: names must be distinct and not empty, at most 255 (255 is ignore)",
         option);
  }
  std::set<std::string> texts;
  for (const auto& list : given.texts) {
    for (const auto& text : list) {
      if (!texts.insert(text).second)
        fail(ErrorCode::usage, "{}: '{}' stands for two classes", option, text);
    }
  }
}

}  // namespace

std::optional<std::uint8_t> GivenClasses::label_of(std::uint32_t value) const {
  const auto found = values.find(value);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

GivenClasses given_classes(const std::vector<std::string>& given, const std::string& option) {
  const std::vector<ClassEntry> entries = class_entries(given, option);
  GivenClasses found;
  ValueTable table(found, option);
  const bool stated = states_values(entries);
  bool ignores = false;
  for (const ClassEntry& entry : entries) {
    if (entry.is_ignore()) {
      table.state(entry, kIgnoreLabel);
      ignores = true;
      continue;
    }
    const std::size_t label = found.names.size();
    if (stated && label > 0 && entry.values().empty()) {
      fail(ErrorCode::usage, "{}: '{}' states no value, others do; state one for each class ({}=2)",
           option, entry.name, entry.name);
    }
    found.names.push_back(entry.name);
    std::vector<std::string> texts;
    for (const auto& [text, values] : entry.parts) {
      if (values.empty()) texts.push_back(text);
    }
    found.texts.push_back(std::move(texts));
    if (label < kIgnoreLabel) table.state(entry, static_cast<std::uint8_t>(label));
  }
  check_names(found, option);
  if (ignores && !stated) {
    for (std::size_t label = 0; label < found.names.size(); ++label)
      table.otherwise(static_cast<std::uint32_t>(label), static_cast<std::uint8_t>(label));
  }
  if (stated || ignores) {
    table.otherwise(0, 0);
    table.otherwise(kIgnoreLabel, kIgnoreLabel);
  }
  return found;
}

std::string listed_values(const std::map<std::uint32_t, std::uint64_t>& counts,
                          const std::string& unit) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [value, count] : sorted) {
    if (parts.size() == kMostListed) break;
    parts.push_back(fmt::format("{} ({} {})", value, count, unit));
  }
  return fmt::format(
      "{}{}", fmt::join(parts, ", "),
      sorted.size() > kMostListed ? fmt::format(" and {} more", sorted.size() - kMostListed) : "");
}

}  // namespace headrace::ingest
