#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "learn/handover/export_result.hpp"

namespace headrace::cli {

/// What `predict --as` makes of each result, with the defaults of `headrace export`.
class ResultExports {
 public:
  /// Errors: usage (a format that is not for the images of this run), those of opening the run.
  ResultExports(const std::vector<handover::ExportFormat>& formats, const std::string& run);

  /// The files that were written beside a finished result. Errors: those of export_result.
  std::vector<std::string> of(const std::filesystem::path& result) const;
  /// The files over all results of an output folder.
  std::vector<std::string> over(const std::filesystem::path& out) const;

 private:
  handover::ExportOptions options_;
};

}  // namespace headrace::cli
