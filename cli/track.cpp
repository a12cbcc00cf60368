#include "cli/commands.hpp"
#include "cli/python_command.hpp"

namespace headrace::cli {

void add_track(CLI::App& app) {
  CLI::App* track = app.add_subcommand(
      "track", "Brings runs to MLflow, Weights & Biases or TensorBoard, also while they train.");
  track->set_help_flag();
  track->fallthrough(false)->allow_extras();
  track->callback([] { run_with_python("track"); });
}

}  // namespace headrace::cli
