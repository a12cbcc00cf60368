#include "learn/runs/folds_folder.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/runs/fold_pool.hpp"
#include "learn/runs/fold_spread.hpp"
#include "learn/runs/run_folder.hpp"

namespace headrace::runs {
namespace {

constexpr int kMostFolds = 50;  // of data.folds
constexpr const char* kRunFile = "run.json";
constexpr std::int64_t kResamples = 1000;  ///< where eval.bootstrap asks for none
constexpr const char* kNote =
    "over_folds: mean, standard deviation (n - 1) and t_95, mean ± Student's t · sd / √n over folds. "
    "Folds share most of what they train on, so sd and t_95 are too narrow. pooled: all cases, each "
    "judged by the network that never saw it; interval_95 resamples cases and leaves out that "
    "training again would give other networks.";

/// A fold that was begun; none where there is none.
std::optional<std::filesystem::path> begun_fold(const std::filesystem::path& folds) {
  for (int fold = 0; fold < kMostFolds; ++fold) {
    if (RunFolder::holds_run(fold_folder(folds, fold))) return fold_folder(folds, fold);
  }
  return std::nullopt;
}

/// How many folds there are, by the config of one that was begun.
int count_folds(const std::filesystem::path& folds) {
  const auto begun = begun_fold(folds);
  if (!begun) fail(ErrorCode::not_found, "{} holds no folds.", folds.string());
  const RunFolder run = RunFolder::open(*begun);
  const Json config = run.read_json("config.json");
  const Json* count = find_at(config, {"data", "folds"});
  if (count != nullptr && count->is_number_integer()) return count->get<int>();
  fail(ErrorCode::malformed,
       "{}: no data.folds, so {} is no folder of folds. Name its runs one by one.",
       run.describe("config.json"), folds.string());
}

/// The cases of a fold's evaluation.
std::set<std::string> cases_of(const Json& evaluation) {
  std::set<std::string> out;
  for (const auto& [name, group] : evaluation.at("cases").items()) out.insert(name);
  return out;
}

/// Refuses folds that are not parts of one cross-validation.
void check_one_whole(const std::filesystem::path& folds, const std::vector<Json>& runs,
                     const std::vector<Json>& evaluations) {
  for (std::size_t f = 1; f < runs.size(); ++f) {
    for (const char* key : {"dataset_hash", "classes"}) {
      if (runs[f].at(key) == runs[0].at(key)) continue;
      fail(ErrorCode::usage,
           "{}: fold-{} has {} {}, fold-0 {}: their figures don't belong together. Train one of "
           "them again in a folder of its own.",
           folds.string(), f, key, runs[f].at(key).dump(), runs[0].at(key).dump());
    }
  }
  std::map<std::string, std::size_t> fold_of;
  for (std::size_t f = 0; f < evaluations.size(); ++f) {
    for (const std::string& name : cases_of(evaluations[f])) {
      const auto [place, is_new] = fold_of.emplace(name, f);
      if (is_new) continue;
      fail(ErrorCode::usage,
           "{}: case '{}' is judged by fold-{} and by fold-{}, so one of them trained on it. Train "
           "all folds of one dataset with one data.folds_seed.",
           folds.string(), name, place->second, f);
    }
  }
}

}  // namespace

std::filesystem::path fold_folder(const std::filesystem::path& folds, int fold) {
  return folds / fmt::format("fold-{}", fold);
}

bool holds_folds(const std::filesystem::path& path) {
  return !RunFolder::holds_run(path) && begun_fold(path).has_value();
}

bool is_finished(const std::filesystem::path& run) {
  const auto has = [&](const char* name) { return std::filesystem::exists(run / name); };
  return RunFolder::holds_run(run) && has("summary.json") && has("report.html");  // written last
}

std::vector<std::string> finished_folds(const std::filesystem::path& folds) {
  std::vector<std::string> out;
  const int count = count_folds(folds);
  for (int fold = 0; fold < count; ++fold) {
    const auto run = fold_folder(folds, fold);
    if (!is_finished(run)) {
      fail(ErrorCode::usage,
           "{}: {} of its {} folds is not finished. Finish it (headrace train {} {} {} {} {}), or "
           "name the folds to take one by one.",
           folds.string(), run.filename().string(), count, Option{"folds"}, count, Option{"out"},
           folds.string(), Option{"resume"});
    }
    out.push_back(run.string());
  }
  return out;
}

std::vector<std::string> with_folds_expanded(const std::vector<std::string>& runs) {
  std::vector<std::string> out;
  for (const std::string& run : runs) {
    if (!holds_folds(run)) {
      out.push_back(run);
      continue;
    }
    for (std::string& fold : finished_folds(run)) out.push_back(std::move(fold));
  }
  return out;
}

Json summarise_folds(const std::filesystem::path& folds) {
  std::vector<Json> runs, evaluations;
  Json of_folds = Json::array();
  for (const std::string& path : finished_folds(folds)) {
    const RunFolder folder = RunFolder::open(path);
    runs.push_back(folder.read_json(kRunFile));
    evaluations.push_back(folder.read_json("eval.json"));
    const Json summary = folder.read_json("summary.json");
    const Json& overall = evaluations.back().at("overall");
    of_folds.push_back({{"run", std::filesystem::path(path).filename().string()},
                        {"config_hash", runs.back().at("config_hash")},
                        {"weights_sha256", summary.at("weights_sha256")},
                        {"steps", summary.at("steps")},
                        {"images", overall.at("images")},
                        {"cases", evaluations.back().at("cases").size()},
                        {"mean_dice", overall.at("mean_dice")}});
  }
  check_one_whole(folds, runs, evaluations);
  const Json config = RunFolder::open(fold_folder(folds, 0)).read_json("config.json");
  const std::int64_t asked = config.at("eval").at("bootstrap");
  const std::int64_t resamples = asked > 0 ? asked : kResamples;
  Json out = {{"format", 1},
              {"dataset_hash", runs.front().at("dataset_hash")},
              {"classes", runs.front().at("classes")},
              {"folds", std::move(of_folds)},
              {"over_folds", spreads_of(evaluations)},
              {"resamples", resamples},
              {"pooled", pool_folds(evaluations, resamples, folds.string())},
              {"note", kNote}};
  const std::string text = dump_json(out);
  storage::open_store(storage::Place::parse(folds))
      ->put(kFoldsFile, std::as_bytes(std::span(text)));
  return out;
}

}  // namespace headrace::runs
