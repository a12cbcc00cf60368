#include "cli/commands.hpp"
#include "cli/python_command.hpp"

namespace headrace::cli {

void add_track(Command app) {
  Command track = app.subcommand(
      "track", "Brings runs to MLflow, Weights & Biases or TensorBoard, also while they train.");
  track.leave_words_unread();
  track.callback([] { run_with_python("track"); });
}

}  // namespace headrace::cli
