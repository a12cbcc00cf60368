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

#include "headrace/core/fields.hpp"

namespace headrace::transform {

/// A range [low, high] inside [least, most]; a single number is a range of one value.
inline Form range_form(std::array<double, 2>& range, double least, double most) {
  Form form = form::numbers(range, least, most);
  form.accepts = fmt::format("a number or a range [low, high] in {} to {}", least, most);
  form.read = [&range, least, most, read_both = form.read](const YamlValue& value) {
    if (!value.is_list()) {
      range.fill(value.as_double(least, most));
      return;
    }
    read_both(value);
    if (range[0] > range[1]) {
      value.reject(fmt::format("the range [{}, {}] is upside down; write the lower end first",
                               range[0], range[1]));
    }
  };
  return form;
}

/// The option of operations on volumes that work on one channel alone.
inline Field channel_field(std::string& channel) {
  return Field{"channel", form::text(channel), "the one it is for", "every channel"}.written_if(
      !channel.empty());
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
  if (!entry.is_map()) return spec;
  YamlMap options = YamlMap(entry).map(std::string(Spec::kName));
  read_fields(options, spec.fields());
  if constexpr (requires { spec.check(options); }) spec.check(options);
  options.finish();
  return spec;
}

/// An operation's name, and its options as docs have them.
struct OperationFacts {
  std::string name;
  std::vector<KeyFacts> options;
};

/// The operations of a registry, which is a struct derived from a variant of their structs.
template <typename Registry, typename Variant = typename Registry::Variant>
struct OperationsOf;
template <typename Registry, typename... Specs>
struct OperationsOf<Registry, std::variant<Specs...>> {
  static std::vector<std::string> names() { return {std::string(Specs::kName)...}; }
  static std::vector<OperationFacts> facts() {
    return {{std::string(Specs::kName), list_keys(Specs().fields())}...};
  }
  /// Nothing where none has this name.
  static std::optional<Registry> read(const YamlValue& entry, std::string_view name) {
    std::optional<Registry> spec;
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

/// All options of an entry, as the run records and hashes them.
template <typename... Specs>
Json options_json(const std::variant<Specs...>& spec) {
  return std::visit([](auto copy) { return fields_json(copy.fields()); }, spec);
}

/// The name of a list's entry in the run config.
template <typename... Specs>
std::string operation_name(const std::variant<Specs...>& spec) {
  return std::visit([](const auto& s) { return std::string(s.kName); }, spec);
}

}  // namespace headrace::transform
