#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "headrace/core/yaml.hpp"

namespace headrace::transform {

/// A range [low, high] inside [least, most]; a single number is a range of one value.
inline std::array<double, 2> range_of(YamlMap& map, const std::string& key,
                                      std::array<double, 2> fallback, double least, double most) {
  const auto value = map.find(key);
  if (!value) return fallback;
  if (!value->is_list()) {
    const double fixed = value->as_double(least, most);
    return {fixed, fixed};
  }
  const auto ends = value->as_list(2);
  const std::array<double, 2> range{ends[0].as_double(least, most), ends[1].as_double(least, most)};
  if (range[0] > range[1]) {
    value->reject(fmt::format("the range [{}, {}] is upside down; write the lower end first",
                              range[0], range[1]));
  }
  return range;
}

/// The name of an entry of a list of transforms: `- name` or `- name: {options}`.
inline std::string entry_name(const YamlValue& entry) {
  if (!entry.is_map()) return entry.as_string();
  const auto keys = YamlMap(entry).keys();
  if (keys.size() != 1) {
    entry.reject(fmt::format("one transform an entry, found {} keys ({}); start each with '- '",
                             keys.size(), fmt::join(keys, ", ")));
  }
  return keys[0];
}

/// Reads an entry by the reader of its name; `more`: names that other code reads.
template <typename Spec>
struct NamedReader {
  const char* name;
  Spec (*read)(YamlMap&);
};
template <typename Spec, std::size_t kCount>
Spec read_entry(const YamlValue& entry, const NamedReader<Spec> (&readers)[kCount],
                const std::vector<std::string>& more = {}) {
  const std::string name = entry_name(entry);
  std::vector<std::string> names;
  for (const NamedReader<Spec>& known : readers) {
    names.emplace_back(known.name);
    if (name != known.name) continue;
    if (!entry.is_map()) {
      YamlMap empty = YamlMap::parse("", entry.location());
      return known.read(empty);
    }
    YamlMap outer(entry);
    YamlMap options = outer.map(name);
    Spec spec = known.read(options);
    options.finish();
    return spec;
  }
  names.insert(names.end(), more.begin(), more.end());
  const auto nearest = nearest_name(name, names);
  entry.reject(fmt::format("'{}' is not a transform. {}", name,
                           nearest ? fmt::format("Did you mean '{}'?", *nearest)
                                   : fmt::format("There are: {}", fmt::join(names, ", "))));
}

}  // namespace headrace::transform
