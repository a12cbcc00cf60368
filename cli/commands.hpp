#pragma once
#include <CLI/CLI.hpp>

namespace headrace::cli {

// One function for each command, in the file of its name: adds its options to `app` and sets the
// function to run. A command that ends normally with an exit code other than 0 throws ExitCode.
void add_ingest(CLI::App& app);
void add_info(CLI::App& app);
void add_verify(CLI::App& app);
void add_diff(CLI::App& app);
void add_prune(CLI::App& app);
void add_read(CLI::App& app);
void add_batches(CLI::App& app);
void add_sample(CLI::App& app);
void add_phantom(CLI::App& app);
void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_replay(CLI::App& app);
void add_sweep(CLI::App& app);
void add_track(CLI::App& app);
void add_promote(CLI::App& app);
void add_predict(CLI::App& app);
void add_suggest(CLI::App& app);
void add_view(CLI::App& app);
void add_export(CLI::App& app);
void add_send(CLI::App& app);
void add_report(CLI::App& app);
void add_process(CLI::App& app);
void add_bench(CLI::App& app);

/// Results that are not errors: 3 gate missed, 4 verification failed.
struct ExitCode {
  int value;
};

}  // namespace headrace::cli
