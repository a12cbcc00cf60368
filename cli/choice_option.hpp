#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/option_choice.hpp"

namespace headrace::cli {

/// How the help shows an option or argument that takes one of these words.
inline std::string type_of(const std::vector<std::string>& words) {
  return fmt::format("TEXT:{{{}}}", fmt::join(words, ","));
}

/// Adds an option (`--codec`), or an argument, whose values are the names of an enumeration; the
/// help lists them.
template <NamedEnum Enum, typename Take>
CLI::Option* add_choice_to(CLI::App& app, const std::string& name, Take take,
                           const std::string& help) {
  const auto parse = [name, take](const std::string& word) { take(choice_of<Enum>(name, word)); };
  return app.add_option_function<std::string>(name, parse, help)
      ->type_name(type_of(names_of<Enum>()));
}
template <NamedEnum Enum>
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::optional<Enum>& value,
                        const std::string& help) {
  return add_choice_to<Enum>(
      app, name, [&value](Enum chosen) { value = chosen; }, help);
}
template <NamedEnum Enum>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Enum& value,
                        const std::string& help) {
  return add_choice_to<Enum>(
             app, name, [&value](Enum chosen) { value = chosen; }, help)
      ->default_str(std::string(name_of(value)));
}

/// The same for several names, separated by commas.
template <NamedEnum Enum>
CLI::Option* add_choices(CLI::App& app, const std::string& name, std::vector<Enum>& values,
                         const std::string& help) {
  const auto take = [name, &values](const std::vector<std::string>& words) {
    values.clear();
    for (const auto& word : words) values.push_back(choice_of<Enum>(name, word));
  };
  std::vector<std::string_view> usual;
  for (const Enum value : values) usual.push_back(name_of(value));
  return app.add_option_function<std::vector<std::string>>(name, take, help)
      ->delimiter(',')
      ->type_name(type_of(names_of<Enum>()))
      ->default_str(fmt::format("{}", fmt::join(usual, ",")));
}

}  // namespace headrace::cli
