#include "headrace/core/work_options.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <type_traits>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace {
namespace {

std::size_t place_of(const YamlValue& from, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), from.as_choice(names));
  return static_cast<std::size_t>(found - names.begin());
}

/// How each kind of variable is read and written.
struct FormOf {
  const WorkOption& option;

  Form operator()(bool* value) const { return form::flag(*value); }
  Form operator()(std::string* value) const { return form::text(*value); }
  Form operator()(std::vector<std::string>* values) const { return form::texts(*values); }
  template <form::Number T>
  Form operator()(T* value) const {
    using Any = std::numeric_limits<T>;
    return form::number(*value, Any::lowest(), Any::max());
  }
  Form operator()(std::vector<double>* values) const {
    using Any = std::numeric_limits<double>;
    return form::numbers(*values, Any::lowest(), Any::max());
  }
  Form operator()(std::optional<double>* value) const {
    using Any = std::numeric_limits<double>;
    return {[value](const YamlValue& from) { *value = from.as_double(Any::lowest(), Any::max()); },
            [value] { return or_null(*value); },
            "a number",
            {}};
  }
  Form operator()(const ChoiceVariable& choice) const {
    return form::one_of(
        choice.names,
        [choice](const std::string& name) {
          const auto found = std::find(choice.names.begin(), choice.names.end(), name);
          choice.set(static_cast<std::size_t>(found - choice.names.begin()));
        },
        choice.now);
  }
  Form operator()(const ChoicesVariable& choices) const {
    const auto read = [choices](const YamlValue& from) {
      std::vector<std::size_t> places;
      for (const YamlValue& entry : from.as_list())
        places.push_back(place_of(entry, choices.names));
      choices.set(places);
    };
    return {read, [choices] { return Json(choices.now()); }, "a list of names", choices.names};
  }
};

/// Refuses a number outside of the option's limits; other variables have none.
struct CheckOf {
  const WorkOption& option;

  template <typename T>
  void operator()(const T& variable) const {
    if constexpr (std::is_same_v<T, int*> || std::is_same_v<T, std::int64_t*> ||
                  std::is_same_v<T, double*>) {
      const auto number = static_cast<double>(*variable);
      if (number >= option.limits->low && number <= option.limits->high) return;
      fail(ErrorCode::usage, "{} {}: must be {}", Option{option.key}, *variable,
           option.limits->said);
    } else {
      fail(ErrorCode::internal, "option {} has limits and is no number", option.key);
    }
  }
};

}  // namespace

WorkOption WorkOption::as_argument(std::string word) && {
  argument = true;
  names = {std::move(word)};
  return std::move(*this);
}
WorkOption WorkOption::named(std::vector<std::string> all) && {
  names = std::move(all);
  return std::move(*this);
}
WorkOption WorkOption::must_be_given() && {
  required = true;
  return std::move(*this);
}
WorkOption WorkOption::takes(int count) && {
  values = count;
  return std::move(*this);
}
WorkOption WorkOption::within(double low, double high, std::string said) && {
  if (said.empty()) said = detail::limits_text(low, high);
  limits = Limits{low, high, std::move(said)};
  return std::move(*this);
}
WorkOption WorkOption::hashed() && {
  hash = Hashed::yes;
  return std::move(*this);
}
WorkOption WorkOption::hashed_if(bool counts) && {
  hash = counts ? Hashed::yes : Hashed::not_now;
  return std::move(*this);
}

WorkOptions joined(WorkOptions first, WorkOptions second) {
  first.insert(first.end(), std::make_move_iterator(second.begin()),
               std::make_move_iterator(second.end()));
  return first;
}

Fields fields_of(const WorkOptions& options) {
  Fields fields;
  for (const WorkOption& option : options) {
    Field field{option.key, std::visit(FormOf{option}, option.variable), option.text};
    if (option.limits) field.form.accepts = option.limits->said;
    field.hash = option.hash;
    fields.push_back(std::move(field));
  }
  return fields;
}

void check_limits(const WorkOptions& options) {
  for (const WorkOption& option : options) {
    if (option.limits) std::visit(CheckOf{option}, option.variable);
  }
}

}  // namespace headrace
