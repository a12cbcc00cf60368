#pragma once
#include <optional>
#include <string>

#include "learn/config/run_config.hpp"

namespace headrace::cli {

/// What `headrace train --folds` was asked for.
struct FoldsRequest {
  int folds = 0;            ///< 0: no cross-validation
  std::optional<int> fold;  ///< only this one
  std::string config, out;
  bool resume = false, json = false;
  int processes = 1;
};

/// The config of a fold. One that joins begun folds takes the version of the store that they were
/// begun with, whatever versions came later. Errors: usage (no such fold; OUT
/// is a run folder).
config::RunConfig config_of_fold(config::RunConfig config, const FoldsRequest& request, int fold);

/// Trains all folds that are not finished, one after the other, each in processes of its own, and
/// then makes folds.json and prints it.
/// Errors: usage, before anything is made (the folds can't be dealt; folds of another config;
/// OUT is taken and not resumed). Throws ExitCode where a fold fails or is stopped.
void train_folds(const FoldsRequest& request);

}  // namespace headrace::cli
