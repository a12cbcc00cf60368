#include "learn/runs/promoted_from.hpp"

#include <fmt/format.h>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/runs/model_registry.hpp"
#include "learn/runs/run_folder.hpp"

namespace headrace::runs {
namespace {

namespace fs = std::filesystem;

/// Where the run of a promotion is, as far as that is known.
std::string whereabouts(const std::optional<Json>& line, const std::string& weights) {
  const std::string by_weights =
      fmt::format("the folder whose final or best weights have the SHA-256 {}", weights);
  if (!line) return fmt::format("Give the folder of its run: {}", by_weights);
  const std::string promoted =
      fmt::format("It was promoted as {} on {} by {}", line->value("name", ""),
                  line->value("time", ""), line->value("by", ""));
  const Json run = line->value("run", Json());
  if (!run.is_string())
    return fmt::format("{}. Give the folder of its run: {}", promoted, by_weights);
  const auto path = run.get<std::string>();
  if (RunFolder::holds_run(path))
    return fmt::format("{} from {}: give that folder", promoted, path);
  return fmt::format("{} from {}, where no run is now. Give its folder: {}", promoted, path,
                     by_weights);
}

}  // namespace

std::optional<Json> promotion_of(const fs::path& model) {
  const fs::path folder = fs::canonical(model);
  const fs::path registry = folder.parent_path().parent_path();
  if (folder.parent_path() != registry / Registry::kModels ||
      !fs::exists(registry / Registry::kLog))
    return std::nullopt;
  std::optional<Json> found;
  const RegistryLog log = Registry(registry).log();
  for (const Json& line : log.lines()) {
    if (line.at("model") == folder.filename().string()) found = line;
  }
  return found;
}

Json origin_of(const fs::path& folder) {
  if (RunFolder::is_promoted(folder)) {
    const auto line = promotion_of(folder);
    return line ? line->value("run", Json()) : Json();
  }
  // A name that is not UTF-8 can't stand in JSON.
  const std::string text =
      Json(fs::canonical(folder).string()).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(text);
}

void refuse_model(const fs::path& folder) {
  if (!RunFolder::is_promoted(folder)) return;
  const std::string weights = sha256_hex(RunFolder::open(folder).read(kFinalWeights));
  fail(ErrorCode::usage, "{} is a promoted model, without the steps of its training. {}.",
       folder.string(), whereabouts(promotion_of(folder), weights));
}

}  // namespace headrace::runs
