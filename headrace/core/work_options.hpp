#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/fields.hpp"

namespace headrace {

// Options of long work (ingest, …) are described once, as a list of WorkOption bound to the members
// of a struct. The command line, Python, the limits, what is hashed and lists in docs all follow
// it. Like Fields it is made anew for each use.

/// A variable whose values are named, and several of such values. Positions are those in `names`.
struct ChoiceVariable {
  std::vector<std::string> names;
  std::function<void(std::size_t)> set;
  std::function<std::string_view()> now;  ///< the name of its value; empty: it has none
};
struct ChoicesVariable {
  std::vector<std::string> names;
  std::function<void(const std::vector<std::size_t>&)> set;
  std::function<std::vector<std::string>()> now;
};

using WorkVariable =
    std::variant<bool*, int*, std::int64_t*, double*, std::optional<double>*, std::string*,
                 std::vector<std::string>*, std::vector<double>*, ChoiceVariable, ChoicesVariable>;

template <NamedEnum Enum>
ChoiceVariable choice_variable(Enum& value) {
  return {names_of<Enum>(), [&value](std::size_t i) { value = kNamesOf<Enum>[i].first; },
          [&value] { return name_of(value); }};
}

template <NamedEnum Enum>
ChoicesVariable choices_variable(std::vector<Enum>& values) {
  const auto set = [&values](const std::vector<std::size_t>& places) {
    values.clear();
    for (const std::size_t i : places) values.push_back(kNamesOf<Enum>[i].first);
  };
  const auto now = [&values] {
    std::vector<std::string> names;
    for (const Enum value : values) names.emplace_back(name_of(value));
    return names;
  };
  return {names_of<Enum>(), set, now};
}

/// One option, or an argument that has no name on the command line.
struct WorkOption {
  std::string key;  ///< as structs and Python name it: "val_fraction"
  WorkVariable variable;
  std::string text;   ///< for the help: what it is, in a line or two
  std::string group;  ///< the heading of the help under which it stands; empty: the common one
  /// What stands for it on the command line, where that is not the key: of an argument its word in
  /// capitals, "STORE"; of an option all its names, "annotations", "labels".
  std::vector<std::string> names = {};
  bool argument = false;
  bool required = false;
  int values = 0;  ///< of a list: exactly so many; 0: any number
  struct Limits {
    double low, high;  ///< both included; not a number is outside
    std::string said;  ///< "0 to 9"
  };
  std::optional<Limits> limits = {};
  Hashed hash = Hashed::never;  ///< whether it is among the settings that a store's hash covers

  // Each sets one of those above.
  WorkOption as_argument(std::string word) &&;
  WorkOption named(std::vector<std::string> all) &&;
  WorkOption must_be_given() &&;
  WorkOption takes(int count) &&;
  /// said: how sentences say it; empty: "low to high".
  WorkOption within(double low, double high, std::string said = {}) &&;
  WorkOption hashed() &&;
  /// Part of the hash where it says something: stores from before the option existed keep theirs.
  WorkOption hashed_if(bool counts) &&;
};
using WorkOptions = std::vector<WorkOption>;

/// The lists one after the other.
WorkOptions joined(WorkOptions first, WorkOptions second);

/// For reading from JSON, for what is hashed (hashed_json), and for lists of keys. Numbers are read
/// whatever their limits, which check_limits states in a sentence of its own.
Fields fields_of(const WorkOptions& options);

/// Errors: usage, of the first number outside of its limits; names the option.
void check_limits(const WorkOptions& options);

}  // namespace headrace
