#include "cli/commands.hpp"
#include "cli/python_command.hpp"

namespace headrace::cli {

void add_sweep(Command app) {
  Command sweep = app.subcommand(
      "sweep", "Trains many runs to find the best settings: grid, random, TPE, with pruning.");
  sweep.leave_words_unread();
  sweep.callback([] { run_with_python("sweep"); });
}

}  // namespace headrace::cli
