#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/json_fault.hpp"

namespace headrace::report {

/// The files of a run folder that the report shows; null where a file is absent.
struct RunData {
  std::filesystem::path path;
  Json config;  ///< without_paths
  Json run, eval, summary, preprocessing;
  Json card;  ///< data_card.json
  /// The outcome of the run's own gates: of gate.json, eval.json or summary.json, the first that has
  /// it.
  Json gate;
  Json file_gate;  ///< of the gates of a file, by which it was judged last (headrace eval --gate)
  bool promoted = false;  ///< a model of a registry: it has gate.json, and nothing of its training
  std::vector<Json> metrics;
  std::vector<std::pair<std::string, Json>>
      other_evals;  ///< name and content, by name; null of one that is no JSON

  bool phantom() const;  ///< a cohort's name begins with "phantom"
  bool volumes() const { return eval.contains("phases"); }
  bool gleason() const { return config.at("task") == "grading"; }
};

/// A value as a report shows it, which goes to people who have nothing to do with the machine: texts
/// that are paths (from the root or home, or up and over folders) are reduced to their last name,
/// addresses lose user, password and query, and texts under keys such as "token" are left out.
Json without_paths(const Json& value);

RunData read_run(const std::filesystem::path& run);

/// What `body` makes of the files of runs, named by `runs` in the error. Errors: those of body;
/// malformed (a file lacks what a page shows).
template <typename Body>
std::string made_of(const std::string& runs, Body&& body) {
  try {
    return body();
  } catch (const Json::exception& error) {
    fail(
        ErrorCode::malformed,
        "{}: a file of the run lacks what a report shows ({}). Was it changed by hand, or written by "
        "another version of Headrace?",
        runs, json_fault(error));
  }
}

}  // namespace headrace::report
