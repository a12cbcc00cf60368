#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"

// Commands, their options and arguments, as `headrace` has them. The parser itself, CLI11, is known
// to command_line.cpp alone: its headers take several seconds a file to compile.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headrace::cli {

/// What an option or argument can be bound to, besides enumerations with names and flags.
template <typename T>
concept OptionValue = std::same_as<T, std::string> || std::same_as<T, int> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> || std::same_as<T, double> ||
    std::same_as<T, std::optional<int>> || std::same_as<T, std::optional<double>> ||
    std::same_as<T, std::vector<std::string>> || std::same_as<T, std::vector<std::int64_t>> ||
    std::same_as<T, std::vector<double>>;

/// An option or argument of a command, which owns it; copies mean the same one. Each call below
/// changes it and returns it again.
class CommandOption {
 public:
  explicit CommandOption(CLI::Option* option) : option_(option) {}

  CommandOption required();
  /// The heading under which the help shows it.
  CommandOption group(const std::string& heading);
  /// The help shows the value that the variable has now.
  CommandOption shows_default();
  /// The help shows this default.
  CommandOption default_text(const std::string& text);
  /// Of a list: values are separated by commas; further words are values, too.
  CommandOption separated_by_commas();
  /// Of a list: takes one word each time that it is given, so that what follows is an argument.
  CommandOption one_word();
  /// Of a list: takes exactly so many values.
  CommandOption takes(int values);

  // Values that are refused by the parser, as wrong usage.
  CommandOption range(std::int64_t low, std::int64_t high);  ///< both included
  CommandOption positive();
  CommandOption not_negative();
  CommandOption one_of(const std::vector<std::string>& words);
  CommandOption one_number_of(const std::vector<int>& numbers);
  CommandOption existing_file();

  /// May only be given together with `other`.
  CommandOption needs(CommandOption other);
  /// May not be given together with `other`.
  CommandOption excludes(CommandOption other);

 private:
  CLI::Option* option_;
};

/// A command; copies mean the same one. Names of options begin with "--", several names of one are
/// separated by commas; other names are those of arguments. Variables that options are bound to
/// must live until the command has run.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  /// A command below this one. text: one sentence, for the help.
  Command subcommand(const std::string& name, const std::string& text);
  /// Refuses to run without a command below it.
  void require_subcommand();

  template <OptionValue T>
  CommandOption option(const std::string& name, T& value, const std::string& help);
  CommandOption flag(const std::string& name, bool& value, const std::string& help);
  /// A flag that does `work` as soon as it is read; the program then ends, with success.
  CommandOption ending_flag(const std::string& name, std::function<void()> work,
                            const std::string& help);

  /// One of the names of an enumeration; the help lists them, and the error names the nearest.
  template <NamedEnum Enum>
  CommandOption choice(const std::string& name, std::optional<Enum>& value,
                       const std::string& help) {
    return word(
        name, names_of<Enum>(), [&value](std::size_t i) { value = kNamesOf<Enum>[i].first; }, help);
  }
  template <NamedEnum Enum>
  CommandOption choice(const std::string& name, Enum& value, const std::string& help) {
    return word(
               name, names_of<Enum>(), [&value](std::size_t i) { value = kNamesOf<Enum>[i].first; },
               help)
        .default_text(std::string(name_of(value)));
  }
  /// The same for several names, separated by commas.
  template <NamedEnum Enum>
  CommandOption choices(const std::string& name, std::vector<Enum>& values,
                        const std::string& help) {
    std::vector<std::string> usual;
    for (const Enum value : values) usual.emplace_back(name_of(value));
    const auto take = [&values](const std::vector<std::size_t>& places) {
      values.clear();
      for (const std::size_t i : places) values.push_back(kNamesOf<Enum>[i].first);
    };
    return several_words(name, names_of<Enum>(), usual, take, help);
  }
  /// One of these words; `take` gets its place among them. Errors: usage, of the parsed word.
  CommandOption word(const std::string& name, const std::vector<std::string>& words,
                     std::function<void(std::size_t)> take, const std::string& help);
  /// Several of them, separated by commas. usual: the default, for the help.
  CommandOption several_words(const std::string& name, const std::vector<std::string>& words,
                              const std::vector<std::string>& usual,
                              std::function<void(const std::vector<std::size_t>&)> take,
                              const std::string& help);

  /// What the help ends with.
  void footer(const std::string& text);
  /// What the command does, once all of the command line is read.
  void callback(std::function<void()> work);
  /// Takes every word after its name unread, `--help` too: another program reads them.
  void leave_words_unread();
  /// Whether the command line has this option, by its whole name ("--codec").
  bool given(const std::string& option) const;

 protected:
  CLI::App* app_;
};

/// A command line that can't be read. what(): why, as a sentence.
struct WrongUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The program: a command whose options may stand after those of the commands below it.
class CommandLine : public Command {
 public:
  /// text: what the help begins with. version: what --version prints.
  CommandLine(const std::string& name, const std::string& text, const std::string& version);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  /// Of the commands below it, in the order in which they were added.
  std::vector<std::string> command_names() const;
  /// Done before a command's work.
  void on_parsed(std::function<void()> work);
  /// Reads the words and does the work of the command that they name; prints help or version where
  /// they ask for that. Errors: WrongUsage, and what the work throws.
  void run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> owned_;
};

}  // namespace headrace::cli
