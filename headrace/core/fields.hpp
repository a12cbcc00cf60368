#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace {

// A struct of options describes its keys once, as a list of Field bound to its members; reading,
// JSON, the hash and lists of keys all go through that list. It is made anew for each use, so an
// attribute may depend on the values that the struct has then.

struct Field;
using Fields = std::vector<Field>;

/// How the value of a key is read, written and described. Bound to the variable that holds it.
struct Form {
  std::function<void(const YamlValue&)> read;  ///< empty: other code reads the key
  std::function<Json()> json;
  std::string accepts;               ///< "0 to 1024", "auto, cpu, cuda"
  std::vector<std::string> choices;  ///< of an enumeration; else empty
  /// For a key that is given as null. Without it null leaves the default, like a missing key.
  std::function<void()> read_null = {};
  /// The keys of a nested mapping, which needs neither read nor json; else null. By a pointer, since
  /// Field is not complete here.
  std::shared_ptr<const Fields> inner = {};
};

/// Whether a value is part of the hash.
enum class Hashed {
  yes,
  not_now,  ///< it would be, but this value is what was done before the key existed
  never     ///< the key decides no result
};

/// One key of a mapping.
struct Field {
  std::string key;
  Form form;
  std::string text;  ///< one line on what it is
  /// Stands for the default in lists of keys where the value does not tell: "every class above 0".
  std::string default_text = {};
  /// Why the key does not belong beside the values of other keys, which are read before it; empty
  /// where it does. A key that does not belong is refused, and is not in JSON.
  std::function<std::string()> misfit = {};
  Hashed hash = Hashed::yes;
  bool in_json = true;

  // Each sets one of those above.
  Field unless(std::function<std::string()> problem) &&;
  Field decides_nothing() &&;
  Field hashed_if(bool counts) &&;
  Field written_if(bool present) &&;
};

/// Reads the keys that `map` has, each with its limits; the others keep their values. Refusing
/// unknown keys (YamlMap::finish) is left to the caller, who may look at the map again before.
/// Errors: usage, with file, line and key path.
void read_fields(YamlMap& map, const Fields& fields);
/// All keys that belong, as they are recorded.
Json fields_json(const Fields& fields);
/// Those of them that are hashed.
Json hashed_json(const Fields& fields);

/// A key as lists of keys and docs have it.
struct KeyFacts {
  std::string key;  ///< with those of the mappings around it: "train.loss.pixel"
  std::string default_text, accepts, text;
  std::vector<std::string> choices;
  bool decides_nothing = false;
};
/// The keys of all fields, also of those that do not belong; `prefix`: the key path before them.
std::vector<KeyFacts> list_keys(const Fields& fields, const std::string& prefix = "");

namespace detail {
std::string limits_text(double low, double high);
std::string limits_text(std::int64_t low, std::int64_t high);

/// A number as YamlValue reads it: a fraction or a whole one.
template <typename T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;

template <typename T>
T number_of(const YamlValue& value, Wide<T> low, Wide<T> high) {
  if constexpr (std::is_floating_point_v<T>) {
    return value.as_double(low, high);
  } else {
    return static_cast<T>(value.as_int(low, high));
  }
}
}  // namespace detail

namespace form {

Form flag(bool& value);
Form text(std::string& value);
/// null and empty are the same.
Form text_or_null(std::string& value);
Form texts(std::vector<std::string>& values);
/// `what`: a class, a channel.
Form distinct_texts(std::vector<std::string>& values, std::string what);
Form section(Fields inner);

/// One of the names. `set` and `name`: the variable's value, by name.
Form one_of(std::vector<std::string> names, std::function<void(const std::string&)> set,
            std::function<std::string_view()> name);

template <typename T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

/// A number from low to high, both included.
template <Number T>
Form number(T& value, detail::Wide<T> low, detail::Wide<T> high) {
  return {
      [&value, low, high](const YamlValue& from) { value = detail::number_of<T>(from, low, high); },
      [&value] { return Json(value); },
      detail::limits_text(low, high),
      {}};
}

/// Any number of numbers.
template <Number T>
Form numbers(std::vector<T>& values, detail::Wide<T> low, detail::Wide<T> high) {
  return {[&values, low, high](const YamlValue& from) {
            values.clear();
            for (const YamlValue& entry : from.as_list())
              values.push_back(detail::number_of<T>(entry, low, high));
          },
          [&values] { return Json(values); },
          "a list of " + detail::limits_text(low, high),
          {}};
}

/// Exactly as many numbers as the array has.
template <Number T, std::size_t kCount>
Form numbers(std::array<T, kCount>& values, detail::Wide<T> low, detail::Wide<T> high) {
  return {[&values, low, high](const YamlValue& from) {
            const auto entries = from.as_list(kCount);
            for (std::size_t i = 0; i < kCount; ++i)
              values[i] = detail::number_of<T>(entries[i], low, high);
          },
          [&values] { return Json(values); },
          std::to_string(kCount) + " numbers, each " + detail::limits_text(low, high),
          {}};
}

/// One of these values of an enumeration, by name.
template <NamedEnum Enum>
Form choice(Enum& value, const std::vector<Enum>& of) {
  std::vector<std::string> names;
  for (const Enum one : of) names.emplace_back(name_of(one));
  return one_of(
      std::move(names), [&value](const std::string& name) { value = *value_named<Enum>(name); },
      [&value] { return name_of(value); });
}

/// Any of an enumeration's values that have a name.
template <NamedEnum Enum>
Form choice(Enum& value) {
  std::vector<Enum> all;
  for (const auto& [one, name] : kNamesOf<Enum>) all.push_back(one);
  return choice(value, all);
}

}  // namespace form
}  // namespace headrace
