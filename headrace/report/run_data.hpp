#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::report {

/// The files of a run folder that the report shows; null where a file is absent.
struct RunData {
  std::filesystem::path path;
  Json config, run, eval, summary;
  std::vector<Json> metrics;
  std::vector<std::pair<std::string, Json>> other_evals;  ///< name and content, by name

  bool phantom() const;  ///< a cohort's name begins with "phantom"
  bool volumes() const { return eval.contains("phases"); }
  bool gleason() const { return config.at("task") == "gleason"; }
};

RunData read_run(const std::filesystem::path& run);

}  // namespace headrace::report
