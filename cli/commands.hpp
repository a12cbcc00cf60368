#pragma once
#include "cli/command_line.hpp"

namespace headrace::cli {

// One function for each command, in the file of its name: adds its options to `app` and sets the
// function to run. A command that ends normally with an exit code other than 0 throws ExitCode.
void add_ingest(Command app);
void add_info(Command app);
void add_ls(Command app);
void add_verify(Command app);
void add_diff(Command app);
void add_prune(Command app);
void add_read(Command app);
void add_batches(Command app);
void add_sample(Command app);
void add_phantom(Command app);
void add_plan(Command app);
void add_train(Command app);
void add_eval(Command app);
void add_replay(Command app);
void add_sweep(Command app);
void add_track(Command app);
void add_promote(Command app);
void add_predict(Command app);
void add_suggest(Command app);
void add_view(Command app);
void add_export(Command app);
void add_send(Command app);
void add_report(Command app);
void add_process(Command app);
void add_bench(Command app);

/// Results that are not errors: 3 gate missed, 4 verification failed.
struct ExitCode {
  int value;
};

}  // namespace headrace::cli
