#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
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

/// An entry of a known operation: the defaults where it is a name alone.
template <typename Spec>
Spec read_options(const YamlValue& entry) {
  Spec spec;
  if (!entry.is_map()) {
    YamlMap empty = YamlMap::parse("", entry.location());
    spec.read(empty);
    return spec;
  }
  YamlMap outer(entry);
  YamlMap options = outer.map(std::string(Spec::kName));
  spec.read(options);
  options.finish();
  return spec;
}

/// The operations of a registry, which is a variant of their structs.
template <typename Registry>
struct OperationsOf;
template <typename... Specs>
struct OperationsOf<std::variant<Specs...>> {
  static std::vector<std::string> names() { return {std::string(Specs::kName)...}; }
  /// Nothing where none has this name.
  static std::optional<std::variant<Specs...>> read(const YamlValue& entry, std::string_view name) {
    std::optional<std::variant<Specs...>> spec;
    (void)((name == Specs::kName && (spec = read_options<Specs>(entry), true)) || ...);
    return spec;
  }
};

/// Reads an entry by the operation of its name; `more`: names that other code reads.
template <typename Registry>
Registry read_entry(const YamlValue& entry, const std::vector<std::string>& more = {}) {
  const std::string name = entry_name(entry);
  if (auto spec = OperationsOf<Registry>::read(entry, name)) return *std::move(spec);
  std::vector<std::string> names = OperationsOf<Registry>::names();
  names.insert(names.end(), more.begin(), more.end());
  const auto nearest = nearest_name(name, names);
  entry.reject(fmt::format("'{}' is not a transform. {}", name,
                           nearest ? fmt::format("Did you mean '{}'?", *nearest)
                                   : fmt::format("There are: {}", fmt::join(names, ", "))));
}

/// The name of a list's entry in the run config.
template <typename... Specs>
std::string operation_name(const std::variant<Specs...>& spec) {
  return std::visit([](const auto& s) { return std::string(s.kName); }, spec);
}

}  // namespace headrace::transform
