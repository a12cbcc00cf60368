#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::runs {

// A folds folder: fold-0, fold-1 … are the run folders of a cross-validation (data.folds), and
// folds.json has their figures together (docs/formats.md, "Folds folder").

constexpr const char* kFoldsFile = "folds.json";

/// "DIR/fold-2".
std::filesystem::path fold_folder(const std::filesystem::path& folds, int fold);
/// Whether any of its folds was begun.
bool holds_folds(const std::filesystem::path& path);
/// Whether a run folder holds a training that has come to its end.
bool is_finished(const std::filesystem::path& run);
/// Run folders of all folds, in order. Errors: usage (a fold that is not finished, by its name),
/// and those of RunFolder.
std::vector<std::string> finished_folds(const std::filesystem::path& folds);
/// The same runs with every folds folder replaced by its folds.
std::vector<std::string> with_folds_expanded(const std::vector<std::string>& runs);

/// Makes folds.json of the finished folds, and returns it: the figures over folds (fold_spread.hpp)
/// and those of all cases, each judged by the network that never saw it (fold_pool.hpp).
/// Errors: those of finished_folds; usage (folds of different datasets or classes, a case in two).
Json summarise_folds(const std::filesystem::path& folds);

}  // namespace headrace::runs
