#include "headrace/ingest/inputs/class_entry.hpp"

#include <algorithm>
#include <charconv>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/core/utf8.hpp"

namespace headrace::ingest {
namespace {

constexpr const char* kBackground = "background";

std::vector<std::uint32_t> whole_numbers(const std::string& text) {
  std::vector<std::uint32_t> values;
  for (const std::string& part : split(text, '+')) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (part.empty() || error != std::errc() || end != part.data() + part.size()) return {};
    values.push_back(value);
  }
  return values;
}

void put_background_first(std::vector<ClassEntry>& entries) {
  const auto background = std::find_if(entries.begin(), entries.end(), [](const ClassEntry& entry) {
    const auto values = entry.values();
    return !entry.is_ignore() && (folded_name(entry.name) == kBackground ||
                                  std::find(values.begin(), values.end(), 0U) != values.end());
  });
  if (background == entries.end()) {
    entries.insert(entries.begin(), ClassEntry{kBackground, {}});
  } else {
    std::rotate(entries.begin(), background, background + 1);
  }
}

}  // namespace

std::vector<std::uint32_t> ClassEntry::values() const {
  std::vector<std::uint32_t> all;
  for (const ClassPart& part : parts) all.insert(all.end(), part.values.begin(), part.values.end());
  return all;
}

bool ClassEntry::is_ignore() const { return folded_name(name) == "ignore" && !values().empty(); }

ClassEntry class_entry(const std::string& text, const std::string& origin) {
  const std::size_t equals = text.find('=');
  ClassEntry entry{text.substr(0, equals), {}};
  if (equals == std::string::npos) return entry;
  for (const std::string& part : split(text.substr(equals + 1), '|')) {
    if (part.empty()) fail(ErrorCode::usage, "{}: '{}' states nothing after '='", origin, text);
    entry.parts.push_back({part, whole_numbers(part)});
  }
  return entry;
}

std::vector<ClassEntry> class_entries(const std::vector<std::string>& given,
                                      const std::string& origin) {
  std::vector<ClassEntry> entries;
  for (const std::string& text : given) {
    if (const auto why = why_no_plain_text(text))
      fail(ErrorCode::usage, "{}: class '{}' {}", origin, text, *why);
    entries.push_back(class_entry(text, origin));
  }
  if (states_values(entries)) {
    put_background_first(entries);
  } else {
    for (std::size_t label = 1; label < entries.size(); ++label) {
      if (folded_name(entries[label].name) != kBackground) continue;
      fail(ErrorCode::usage,
           "{}: label values follow the order of the names, and background, which is 0, comes "
           "first; or state the values of masks ({}=1)",
           origin, entries.front().name);
    }
  }
  return entries;
}

bool states_values(const std::vector<ClassEntry>& entries) {
  return std::any_of(entries.begin(), entries.end(), [](const ClassEntry& entry) {
    return !entry.is_ignore() && !entry.values().empty();
  });
}

}  // namespace headrace::ingest
