#include "cli/described_options.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace headrace::cli {
namespace {

/// "--val-fraction"; of an argument its word.
std::string command_line_names(const WorkOption& option) {
  if (option.argument) return option.names.front();
  std::string all;
  for (std::string name : option.names.empty() ? std::vector{option.key} : option.names) {
    std::replace(name.begin(), name.end(), '_', '-');
    all += (all.empty() ? "--" : ",--") + name;
  }
  return all;
}

struct AddTo {
  Command command;
  const WorkOption& option;
  std::string names = command_line_names(option);

  CommandOption operator()(bool* value) { return command.flag(names, *value, option.text); }
  CommandOption operator()(const ChoiceVariable& choice) {
    return command.word(names, choice.names, choice.set, option.text)
        .default_text(std::string(choice.now()));
  }
  CommandOption operator()(const ChoicesVariable& choices) {
    return command.several_words(names, choices.names, choices.now(), choices.set, option.text);
  }
  template <OptionValue T>
  CommandOption operator()(T* value) {
    CommandOption added = command.option(names, *value, option.text);
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      added.shows_default();
    } else if constexpr (!std::is_same_v<T, std::optional<double>>) {
      if (!option.argument) added.separated_by_commas();
      if (option.values > 0) added.takes(option.values).one_word();
    }
    return added;
  }
};

}  // namespace

void add_options(Command command, const WorkOptions& options) {
  for (const WorkOption& option : options) {
    CommandOption added = std::visit(AddTo{command, option}, option.variable);
    if (!option.group.empty()) added.group(option.group);
    if (option.required) added.required();
  }
}

}  // namespace headrace::cli
