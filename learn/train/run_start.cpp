#include "learn/train/run_start.hpp"

#include <fmt/ranges.h>

#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"
#include "learn/train/run/run_changes.hpp"
#include "learn/train/run/run_identity.hpp"

namespace headrace::train {
namespace {

/// The run continues with another validation split, other rules of evaluation, or other intervals,
/// which leave the validations as they are. Its final figures by the old ones go, so that nothing
/// takes them for its result before there are new ones. The config is written last, so after a kill
/// in between this is repeated.
void judge_otherwise(runs::RunFolder& folder, const config::RunConfig& config,
                     const std::vector<JsonChange>& changes) {
  std::vector<std::string> texts;
  for (const JsonChange& change : changes) {
    if (decides_figures(change.key)) texts.push_back(change.text("the config"));
  }
  for (const char* name : {"summary.json", "eval.json"}) {
    std::error_code error;
    std::filesystem::remove(folder.path() / name, error);
    if (error)
      fail(ErrorCode::io, "{} can't be removed: {}.", folder.describe(name), error.message());
  }
  Json run = folder.read_json(loader::kRunFile);
  if (!texts.empty()) {
    log::warning(
        "from here on the run is judged otherwise ({}): validations so far are set aside, in {}",
        fmt::join(texts, "; "), folder.describe(runs::kFormerValidations));
    folder.set_validations_aside(run.at("config_hash").get<std::string>());
  }
  run["config_hash"] = config.hash();
  folder.write_json(loader::kRunFile, run);
  folder.write_json("config.json", config.to_json());
}

/// The current path of the store, where `headrace eval` looks for it.
void remember_place(runs::RunFolder& folder, const Json& identity) {
  Json run = folder.read_json(loader::kRunFile);
  if (run.value("store", Json()) == identity.at("store")) return;
  run["store"] = identity.at("store");
  folder.write_json(loader::kRunFile, run);
}

/// The gates as the config has them now: they decide nothing that was trained.
void remember_gates(runs::RunFolder& folder, const config::RunConfig& config) {
  Json stored = folder.read_json("config.json");
  const Json now = config.to_json().value("gates", Json());
  if (stored.value("gates", Json()) == now) return;
  if (now.is_null()) {
    stored.erase("gates");
  } else {
    stored["gates"] = now;
  }
  folder.write_json("config.json", stored);
}

/// The user's own functions may be mended between a stop and a resume, but the run is then none that
/// they alone would give; starts.jsonl has both.
void warn_of_other_code(const Json& stored, const Json& now) {
  const auto own = [](const Json& run) {
    const Json code = run.value("code", Json());
    return code.is_object() ? code.value("python", Json()) : Json();
  };
  if (own(stored).is_null()) return;  // made before it was recorded, or without any
  std::vector<std::string> texts;
  for (const JsonChange& change : changes_between(own(stored), own(now)))
    texts.push_back(change.text("now"));
  if (texts.empty()) return;
  log::warning(
      "the run's own functions in Python have changed since it began ({}): from here on they are "
      "the new ones",
      fmt::join(texts, "; "));
}

runs::RunFolder open_own_folder(const config::RunConfig& config, const cohort::Cohort& cohort,
                                const loader::Preprocessing& preprocessing,
                                const TrainOptions& options, const Json& identity) {
  if (options.resume) {
    runs::RunFolder folder = runs::RunFolder::open(options.out);
    folder.lock();
    const auto judging = check_resumed_config(folder.read_json("config.json"), config.to_json());
    check_same_run(folder.read_json(loader::kRunFile), identity, cohort);
    check_same_preprocessing(folder, preprocessing);
    warn_of_other_code(folder.read_json(loader::kRunFile), identity);
    if (!judging.empty()) judge_otherwise(folder, config, judging);
    remember_gates(folder, config);
    remember_place(folder, identity);
    return folder;
  }
  runs::RunFolder folder = runs::RunFolder::create(options.out);
  folder.lock();
  folder.write_json(loader::kRunFile, identity);
  folder.write_json(loader::kPreprocessingFile, preprocessing.to_json());
  folder.write_json("config.json", config.to_json());
  return folder;
}

}  // namespace

void check_same_everywhere(const Json& identity, ranks::ProcessGroup& process_group) {
  Json mine;
  for (const char* key : {"code_version", "config_hash", "dataset_hash", loader::kPreprocessingHash,
                          "runtime", "decoder", "init"}) {
    mine[key] = identity.at(key);
  }
  const std::vector<std::string> all = process_group.all_gather(mine.dump());
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all.front()) continue;
    fail(
        ErrorCode::usage,
        "Process {} would give other results than process 0: {}, there {}. Start all with the same "
        "program, config, store and cores.",
        r, all[r], all.front());
  }
}

runs::RunFolder start_run(const config::RunConfig& config, const cohort::Cohort& cohort,
                          const loader::Preprocessing& preprocessing, const TrainOptions& options,
                          const Json& identity, ranks::ProcessGroup& process_group) {
  if (!process_group.first()) {
    process_group.barrier();  // until the first has made or checked it
    return runs::RunFolder::open(options.out);
  }
  runs::RunFolder folder = open_own_folder(config, cohort, preprocessing, options, identity);
  process_group.barrier();
  return folder;
}

}  // namespace headrace::train
