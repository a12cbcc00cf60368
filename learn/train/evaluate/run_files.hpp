#pragma once
#include <filesystem>
#include <string>

#include "learn/runs/run_folder.hpp"
#include "learn/train/evaluate/evaluate.hpp"

namespace headrace::train {

constexpr std::size_t kReportPictures = 8;  ///< patches that an evaluation keeps for the report

/// Writes <name>.json, <name>-slides.csv and <name>-cases.csv (for volumes <name>-volumes.csv and,
/// with lesions, <name>-lesions.csv) and, where there are pictures, montage/*.png into a folder: that
/// of the run or another.
void write_evaluation(const std::filesystem::path& folder, const std::string& name,
                      const Evaluation& evaluation);

/// Refuses a folder that an evaluation can't be written into, before it is made. Errors: io.
void check_takes_evaluation(const std::filesystem::path& folder);

/// States in an evaluation what was judged: which weights (final or best), their SHA-256, the
/// store's name, by which rules, and how many of the cases the weights have seen. `run`: run.json.
void put_weights(Evaluation& evaluation, const std::string& which, const std::string& sha256,
                 const config::RunConfig& config, const Json& run);

/// Holds gates against an evaluation and logs the outcome, a warning for each miss; returns it as
/// JSON. Errors: usage (a figure that the evaluation does not have).
Json told_gates(const measure::Gate& gates, const Json& evaluation);

/// Makes report.html from the files of the run folder. Where they can't be shown, that is a warning and
/// stands on the page: what was trained and evaluated is there. Errors: io.
void write_report(runs::RunFolder& folder);

/// Overall kappa of an evaluation; null where there is none.
Json kappa_of(const Json& evaluation);
/// FROC and sensitivities of an evaluation of volumes; null where lesions were not searched for.
Json lesion_of(const Json& evaluation);

}  // namespace headrace::train
