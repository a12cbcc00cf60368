#include "headrace/ingest/volume/named_classes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/ingest/inputs/class_entry.hpp"
#include "headrace/ingest/names/identifying_text.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kMostClasses = 255, kLongestName = 64;
constexpr std::uint32_t kLargestMaskValue = 65535;

void check_class_name(const std::string& name, const std::string& origin) {
  const auto why = why_identifying(name);
  if (!why && name.size() <= kLongestName) return;
  fail(ErrorCode::usage, "{}: class '{}' {}; name it otherwise", origin, name,
       why ? "looks like " + *why : fmt::format("is longer than {}", kLongestName));
}

/// The values of masks that an entry states.
std::vector<int> mask_values(const ClassEntry& entry, const std::string& origin) {
  std::vector<int> values;
  for (const std::uint32_t value : entry.values()) {
    if (value > kLargestMaskValue) {
      fail(ErrorCode::usage, "{}: value {} of '{}' is beyond {}, the largest of a mask", origin,
           value, entry.name, kLargestMaskValue);
    }
    values.push_back(static_cast<int>(value));
  }
  return values;
}

class Naming {
 public:
  Naming(const std::vector<std::string>& given, const std::string& origin)
      : entries_(class_entries(given, origin)), origin_(origin), values_(states_values(entries_)) {}

  NamedClasses read() {
    for (const ClassEntry& entry : entries_) {
      entry.is_ignore() ? add_ignore(entry) : add_class(entry);
    }
    if (values_) classes_.by_mask_value.try_emplace(0, 0);
    const std::size_t count = classes_.names.size();
    if (count > kMostClasses || count == 1) {
      fail(ErrorCode::usage, "{}: {} classes, expected 2 to {} with the background first", origin_,
           count, kMostClasses);
    }
    return std::move(classes_);
  }

 private:
  void also(const std::string& name, std::size_t value) {
    if (!classes_.by_plain_name.try_emplace(folded_name(name), static_cast<int>(value)).second ||
        folded_name(name).empty()) {
      fail(ErrorCode::usage, "{}: '{}' is empty, or stands there twice", origin_, name);
    }
  }

  void add_class(const ClassEntry& entry) {
    const std::size_t label = classes_.names.size();
    check_class_name(entry.name, origin_);
    also(entry.name, label);
    for (const auto& [text, values] : entry.parts) {
      // A structure may be named by a number, too, but not by several.
      if (values.size() < 2 && folded_name(text) != folded_name(entry.name)) also(text, label);
    }
    for (const int value : mask_values(entry, origin_)) {
      if (value == 0 && label != 0) {
        fail(ErrorCode::usage, "{}: value 0 is the background, which comes first, but '{}' has it",
             origin_, entry.name);
      }
      state(value, static_cast<int>(label), entry.name);
    }
    classes_.names.push_back(entry.name);
  }

  void add_ignore(const ClassEntry& entry) {
    const std::vector<int> values = mask_values(entry, origin_);
    if (std::find(values.begin(), values.end(), 0) != values.end())
      fail(ErrorCode::usage, "{}: value 0 is the background, not 'ignore'", origin_);
    if (values.size() > 1 && !values_) {
      fail(ErrorCode::usage,
           "{}: several values of 'ignore' need classes that state theirs (NAME=1)", origin_);
    }
    classes_.ignore_value = values.front();
    for (std::size_t i = 1; i < values.size(); ++i) state(values[i], kIgnoreLabel, entry.name);
  }

  void state(int value, int label, const std::string& name) {
    if (classes_.by_mask_value.try_emplace(value, label).second) return;
    fail(ErrorCode::usage, "{}: value {} of '{}' stands there twice", origin_, value, name);
  }

  std::vector<ClassEntry> entries_;
  std::string origin_;
  bool values_;
  NamedClasses classes_;
};

}  // namespace

void NamedClasses::add(const std::vector<ClassSet>& sets) {
  for (const ClassSet& set : sets) {
    check_class_name(set.name, to_string(Option{"class_sets"}));
    const int value = static_cast<int>(names.size());
    if (!by_plain_name.try_emplace(folded_name(set.name), value).second) {
      fail(ErrorCode::usage, "{}: '{}' is the name of a class as well", Option{"class_sets"},
           set.name);
    }
    names.push_back(set.name);
  }
}

bool states_values(const std::vector<std::string>& given, const std::string& origin) {
  return states_values(class_entries(given, origin));
}

NamedClasses named_classes(const std::vector<std::string>& given, const std::string& origin) {
  return Naming(given, origin).read();
}

std::vector<std::string> in_order_of(const std::vector<std::string>& stored,
                                     const std::vector<std::string>& given) {
  std::vector<std::string> rest = given, ordered;
  for (const std::string& name : stored) {
    const auto found = std::find_if(rest.begin(), rest.end(), [&](const std::string& text) {
      return folded_name(text.substr(0, text.find('='))) == folded_name(name);
    });
    ordered.push_back(found == rest.end() ? name : *found);
    if (found != rest.end()) rest.erase(found);
  }
  ordered.insert(ordered.end(), rest.begin(), rest.end());
  return ordered;
}

}  // namespace headrace::ingest
