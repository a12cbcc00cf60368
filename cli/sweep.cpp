#include "cli/commands.hpp"
#include "cli/python_command.hpp"

namespace headrace::cli {

void add_sweep(CLI::App& app) {
  CLI::App* sweep = app.add_subcommand(
      "sweep", "Trains many runs to find the best settings: grid, random, TPE, with pruning.");
  sweep->set_help_flag();
  sweep->fallthrough(false)->allow_extras();
  sweep->callback([] { run_with_python("sweep"); });
}

}  // namespace headrace::cli
