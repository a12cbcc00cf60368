#include "cli/result_exports.hpp"

#include "headrace/core/json.hpp"
#include "learn/runs/run_folder.hpp"

namespace headrace::cli {
namespace {

std::vector<std::string> names_of_files(const std::vector<std::filesystem::path>& files) {
  return {files.begin(), files.end()};
}

/// patch.size of three numbers: a run on volumes.
bool is_of_slides(const std::string& run) {
  const Json config = runs::RunFolder::open(run).read_json("config.json");
  const Json* size = find_at(config, {"patch", "size"});
  return size == nullptr || size->size() != 3;
}

}  // namespace

ResultExports::ResultExports(const std::vector<handover::ExportFormat>& formats,
                             const std::string& run) {
  options_.formats = formats;
  if (!formats.empty()) handover::check_formats(formats, is_of_slides(run), run);
}

std::vector<std::string> ResultExports::of(const std::filesystem::path& result) const {
  if (options_.formats.empty()) return {};
  return names_of_files(handover::export_result(result::ImageResult::open(result), options_));
}

std::vector<std::string> ResultExports::over(const std::filesystem::path& out) const {
  if (options_.formats.empty()) return {};
  return names_of_files(handover::export_cases(out, options_));
}

}  // namespace headrace::cli
