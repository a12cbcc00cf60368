#include "learn/predict/trained_run.hpp"

#include <filesystem>
#include <set>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"
#include "learn/predict/full_path.hpp"
#include "learn/runs/weights_file.hpp"
#include "learn/runs/weights_identity.hpp"

namespace headrace::predict {
namespace {

constexpr const char* kEvaluationFile = "eval.json";

/// What the run's validation tells about scores, if it is of the weights that predict.
OrReason<Json> evaluation_of(const runs::RunFolder& folder,
                             const std::set<std::string>& weights_hashes) {
  if (!folder.has(kEvaluationFile)) {
    return OrReason<Json>::none("the run has no eval.json: it was not evaluated");
  }
  Json json = folder.read_json(kEvaluationFile);
  // An evaluation of training itself does not name its weights: it is of the final ones.
  const std::string own = json.value("weights_sha256", "");
  if (!own.empty() ? !weights_hashes.contains(own) : json.value("weights", "final") != "final") {
    return OrReason<Json>::none("the run's eval.json is of other weights");
  }
  return OrReason<Json>::of(std::move(json));
}

/// Keys of eval by which tiles are blended and findings made.
Json rules_of(const TrainedRun& run) {
  Json out = run.config.to_json().at("eval");
  for (const char* key : {"batch", "bootstrap"}) out.erase(key);
  return out;
}

std::vector<std::pair<std::string, IntensityUnit>> channels_of(const TrainedRun& run) {
  std::vector<std::pair<std::string, IntensityUnit>> out;
  for (const auto& channel : run.preprocessing->channels)
    out.emplace_back(channel.name, channel.unit);
  return out;
}

}  // namespace

TrainedRun open_trained_run(const std::string& path, const RunOptions& options) {
  const runs::RunFolder folder = runs::RunFolder::open(path);
  const std::string file = runs::weights_file(folder, options.weights);
  const Json run = folder.read_json(loader::kRunFile);
  TrainedRun out;
  out.folder = path;
  out.config = config::RunConfig::parse(folder.read_json("config.json").dump(),
                                        folder.describe("config.json"));
  out.config.data.labels.clear();
  out.config.data.expect_hash.reset();
  out.config.data.version.clear();
  out.config.loader.device = options.device;
  out.config.loader.threads = options.loader_threads;
  out.preprocessing =
      std::make_shared<const loader::Preprocessing>(loader::read_run_preprocessing(folder.files()));
  out.network = std::make_shared<inference::Network>(
      out.config, out.classes().size(), loader::channel_count(*out.preprocessing, out.config));
  const std::vector<std::byte> weights = folder.read(file);
  out.network->load_weights(weights, folder.describe(file));
  out.facts = {std::filesystem::path(full_path(path)).filename().string(),
               options.weights,
               runs::weights_identity(weights, folder.describe(file)),
               run.value("config_hash", ""),
               run.value(loader::kPreprocessingHash, ""),
               run.value("code_version", "")};
  out.evaluation = options.weights == "final"
                       ? evaluation_of(folder, runs::weights_hashes(weights, folder.describe(file)))
                       : OrReason<Json>::none("the run's eval.json is of its final weights");
  return out;
}

void check_ensemble(const std::vector<TrainedRun>& runs) {
  const TrainedRun& first = runs.front();
  const auto refuse = [&](const TrainedRun& other, const char* what) {
    fail(ErrorCode::usage,
         "{} and {} differ in {}, so their predictions can't be averaged pixel by pixel. Predict "
         "with runs of one config, such as folds.",
         first.folder, other.folder, what);
  };
  const Json patch = first.config.to_json().at("patch"), rules = rules_of(first);
  for (const TrainedRun& run : runs) {
    if (run.config.task != first.config.task) refuse(run, "task");
    if (run.classes() != first.classes()) refuse(run, "classes");
    if (run.config.to_json().at("patch") != patch) refuse(run, "patch");
    if (rules_of(run) != rules) refuse(run, "eval");
    if (channels_of(run) != channels_of(first)) refuse(run, "channels");
  }
}

}  // namespace headrace::predict
