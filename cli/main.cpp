#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/code_version.hpp"
#include "cli/commands.hpp"
#include "cli/terminal_log.hpp"
#include "cli/terminal_progress.hpp"
#include "cli/torch_program.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/foreign_error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/utf8.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/device/cpu_isa.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/network_options.hpp"

namespace headrace::cli {

char** command_line = nullptr;

namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done, 1 failed, 2 usage, 3 gate missed, 4 damaged data.\n"
    "Results go to standard output, progress and logs to standard error.";

void build(Command app, std::string& isa, bool& quiet, storage::NetworkOptions& network) {
  app.require_subcommand();
  app.footer(kFooter);
  std::vector<std::string_view> levels;
  for (const device::CpuIsa level : device::compiled_isas()) levels.push_back(name_of(level));
  app.option("--isa", isa,
             fmt::format("run kernels at this level of the CPU ({}); the results are the same",
                         fmt::join(levels, ", ")));
  app.flag("--quiet", quiet, "log warnings and errors only");
  app.option(
         "--allow-host", network.hosts,
         "hosts that may be spoken to, as slides.site:8443, beside those of URLs that are given, "
         "separated by commas")
      .separated_by_commas();
  app.option("--ca-file", network.ca_file,
             "certificates of the authorities that are trusted (PEM)");
  app.option("--s3-endpoint", network.s3.endpoint,
             "where buckets of s3:// lie, as https://s3.site:9000; else AWS_ENDPOINT_URL, or "
             "Amazon's of AWS_REGION, whose host must be allowed");
  app.flag("--s3-anonymous", network.s3.anonymous,
           "requests for s3:// are not signed; else the keys are those of AWS_ACCESS_KEY_ID and "
           "AWS_SECRET_ACCESS_KEY, or of ~/.aws/credentials");
#define HR_COMMAND(name) add_##name(app);
#ifdef HR_TORCH
#include "cli/torch_commands.inc"
#else
#include "cli/commands.inc"
#endif
#undef HR_COMMAND
}

/// One sentence: the parser's error, the nearest command where the first word is not a command, and
/// the help to read.
std::string explain(const CommandLine& app, const WrongUsage& error,
                    const std::string& first_word) {
  const auto names = app.command_names();
  std::string found = error.what();
  if (!found.empty() && std::string(".?!").find(found.back()) == std::string::npos) found += '.';
  if (std::find(names.begin(), names.end(), first_word) != names.end()) {
    return fmt::format("{} See headrace {} --help.", found, first_word);
  }
  if (first_word.empty() || first_word.front() == '-')
    return fmt::format("{} See headrace --help.", found);
  const auto nearest = nearest_name(first_word, names);
  return fmt::format("'{}' is not a command{} See headrace --help.", first_word,
                     nearest ? fmt::format("; did you mean '{}'?", *nearest) : ".");
}

int run(int argc, char** argv) {
  name_options_as(OptionStyle::command_line);
  log_to_standard_error();
  show_progress_on_standard_error();
  command_line = argv;
  CommandLine app(
      "headrace",
      "Headrace feeds medical-image training: ingest once, then augmented batches, the same bytes "
      "for any number of threads.",
      code_version());
  std::string isa;
  bool quiet = false;
  storage::NetworkOptions network;
  build(app, isa, quiet, network);
  app.on_parsed([&] {
    if (!isa.empty()) device::force_cpu_isa(isa);
    if (quiet) log::set_level(log::Level::warning);
    storage::set_network(network);
  });
  // A URL that a user gives names its host: "https://…", or "--store=https://…".
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t value = word.starts_with("--") ? word.find('=') + 1 : 0;
    storage::name_host_of(word.substr(value));
  }
  try {
    app.run(argc, argv);
    return 0;
  } catch (const WrongUsage& error) {
    std::fprintf(stderr, "headrace: %s\n",
                 shown_text(explain(app, error, argc > 1 ? argv[1] : "")).c_str());
    return 2;
  } catch (const ExitCode& code) {
    return code.value;
  } catch (const Error& error) {
    std::fprintf(stderr, "headrace: %s\n", shown_text(error.what()).c_str());
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "headrace: there is no memory left of what this process may use. Give it more, or "
                 "fewer --threads or --jobs.\n");
    return 1;
  } catch (const std::exception& error) {
    if (const auto known = error_from(error)) {
      std::fprintf(stderr, "headrace: %s\n", shown_text(known->what()).c_str());
      return exit_code(known->code());
    }
    std::fprintf(stderr, "headrace: unexpected failure: %s\n", shown_text(error.what()).c_str());
    return 1;
  }
}

}  // namespace
}  // namespace headrace::cli

int main(int argc, char** argv) { return headrace::cli::run(argc, argv); }
