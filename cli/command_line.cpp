#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/option_choice.hpp"

namespace headrace::cli {
namespace {

std::size_t place_of(const std::string& option, const std::string& word,
                     const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) fail(ErrorCode::usage, "{} {}: {}", option, word, none_of(word, words));
  return static_cast<std::size_t>(found - words.begin());
}

/// How the help shows what takes one of these words.
std::string type_of(const std::vector<std::string>& words) {
  return fmt::format("TEXT:{{{}}}", fmt::join(words, ","));
}

}  // namespace

CommandOption CommandOption::required() {
  option_->required();
  return *this;
}

CommandOption CommandOption::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

CommandOption CommandOption::shows_default() {
  option_->capture_default_str();
  return *this;
}

CommandOption CommandOption::default_text(const std::string& text) {
  option_->default_str(text);
  return *this;
}

CommandOption CommandOption::separated_by_commas() {
  option_->delimiter(',');
  return *this;
}

CommandOption CommandOption::one_word() {
  option_->allow_extra_args(false);
  return *this;
}

CommandOption CommandOption::takes(int values) {
  option_->expected(values);
  return *this;
}

CommandOption CommandOption::range(std::int64_t low, std::int64_t high) {
  option_->check(CLI::Range(low, high));
  return *this;
}

CommandOption CommandOption::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

CommandOption CommandOption::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

CommandOption CommandOption::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

CommandOption CommandOption::one_number_of(const std::vector<int>& numbers) {
  option_->check(CLI::IsMember(numbers));
  return *this;
}

CommandOption CommandOption::existing_file() {
  option_->check(CLI::ExistingFile);
  return *this;
}

CommandOption CommandOption::needs(CommandOption other) {
  option_->needs(other.option_);
  return *this;
}

CommandOption CommandOption::excludes(CommandOption other) {
  option_->excludes(other.option_);
  return *this;
}

Command Command::subcommand(const std::string& name, const std::string& text) {
  return Command(app_->add_subcommand(name, text));
}

void Command::require_subcommand() { app_->require_subcommand(1); }

template <OptionValue T>
CommandOption Command::option(const std::string& name, T& value, const std::string& help) {
  return CommandOption(app_->add_option(name, value, help));
}

#define HR_OPTION(...)                                                                  \
  template CommandOption Command::option<__VA_ARGS__>(const std::string&, __VA_ARGS__&, \
                                                      const std::string&);
HR_OPTION(std::string)
HR_OPTION(int)
HR_OPTION(std::int64_t)
HR_OPTION(std::uint64_t)
HR_OPTION(double)
HR_OPTION(std::optional<int>)
HR_OPTION(std::optional<double>)
HR_OPTION(std::vector<std::string>)
HR_OPTION(std::vector<std::int64_t>)
HR_OPTION(std::vector<double>)
#undef HR_OPTION

CommandOption Command::flag(const std::string& name, bool& value, const std::string& help) {
  return CommandOption(app_->add_flag(name, value, help));
}

CommandOption Command::ending_flag(const std::string& name, std::function<void()> work,
                                   const std::string& help) {
  const auto end = [work = std::move(work)] {
    work();
    throw CLI::Success();
  };
  return CommandOption(app_->add_flag_callback(name, end, help));
}

CommandOption Command::word(const std::string& name, const std::vector<std::string>& words,
                            std::function<void(std::size_t)> take, const std::string& help) {
  const auto parse = [name, words, take = std::move(take)](const std::string& word) {
    take(place_of(name, word, words));
  };
  return CommandOption(
      app_->add_option_function<std::string>(name, parse, help)->type_name(type_of(words)));
}

CommandOption Command::several_words(const std::string& name, const std::vector<std::string>& words,
                                     const std::vector<std::string>& usual,
                                     std::function<void(const std::vector<std::size_t>&)> take,
                                     const std::string& help) {
  const auto parse = [name, words,
                      take = std::move(take)](const std::vector<std::string>& several) {
    std::vector<std::size_t> places;
    for (const auto& word : several) places.push_back(place_of(name, word, words));
    take(places);
  };
  return CommandOption(app_->add_option_function<std::vector<std::string>>(name, parse, help)
                           ->delimiter(',')
                           ->type_name(type_of(words))
                           ->default_str(fmt::format("{}", fmt::join(usual, ","))));
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(std::function<void()> work) { app_->callback(std::move(work)); }

void Command::leave_words_unread() {
  app_->set_help_flag();
  app_->fallthrough(false)->allow_extras();
}

bool Command::given(const std::string& option) const { return app_->count(option) > 0; }

CommandLine::CommandLine(const std::string& name, const std::string& text,
                         const std::string& version)
    : Command(nullptr), owned_(std::make_unique<CLI::App>(text, name)) {
  app_ = owned_.get();
  app_->set_version_flag("--version", version);
  app_->fallthrough();
}

CommandLine::~CommandLine() = default;

std::vector<std::string> CommandLine::command_names() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_->get_subcommands([](CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

void CommandLine::on_parsed(std::function<void()> work) {
  app_->parse_complete_callback(std::move(work));
}

void CommandLine::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& done) {
    app_->exit(done);
  } catch (const CLI::ParseError& error) {
    throw WrongUsage(error.what());
  }
}

}  // namespace headrace::cli
