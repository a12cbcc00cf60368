#include "learn/train/evaluate_run.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/loader/plan/folds.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"
#include "learn/inference/network.hpp"
#include "learn/model/torch_errors.hpp"
#include "learn/runs/promotion_candidate.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/runs/trained_cases.hpp"
#include "learn/runs/weights_file.hpp"
#include "learn/runs/weights_identity.hpp"
#include "learn/train/evaluate/baseline_file.hpp"
#include "learn/train/evaluate/evaluate.hpp"
#include "learn/train/evaluate/run_files.hpp"
#include "learn/train/preflight.hpp"
#include "learn/train/run/run_identity.hpp"
#include "learn/train/start_banner.hpp"

namespace headrace::train {
namespace {

/// run.json with the cases that the run trained on; where one of an earlier version does not record
/// them, by its dataset, as far as that is in the store of then or in the one that is judged.
Json with_seen_cases(config::RunConfig config, Json run, const std::string& judged_store) {
  if (!runs::seen_cases(run).is_null()) return run;
  config.data.version = run.at("dataset_hash").get<std::string>();
  for (const std::string& store : {run.at("store").get<std::string>(), judged_store}) {
    config.data.store = store;
    try {
      std::set<std::string> trained;
      for (const auto& image : loader::open_split(config)->images()) {
        if (image.split == config.data.train) trained.insert(image.case_id);
      }
      run[runs::kTrainedCases] = runs::case_digests(trained);
      return run;
    } catch (const Error&) {
      continue;  // it is not there, or lacks that version
    }
  }
  return run;
}

void warn_of_seen_cases(const std::string& name, const Json& run, const cohort::Cohort& judged,
                        const std::string& split) {
  std::set<std::string> cases;
  for (const auto& image : judged.images()) {
    if (image.split == split) cases.insert(image.case_id);
  }
  const auto seen = runs::seen_among(run, cases);
  if (!seen) {
    if (judged.dataset_hash() == run.at("dataset_hash")) return;  // a case is in one split
    log::warning(
        "{} does not record which cases it was trained on, as runs of earlier versions, and its "
        "dataset is not there: whether it has seen some of split '{}' is not known",
        name, split);
  } else if (!seen->empty()) {
    log::warning(
        "{} was trained on {} of the cases (patients) of split '{}', such as {}: its figures there "
        "do not tell how it does on new ones",
        name, seen->size(), split, *seen->begin());
  }
}

/// A run of a fold has its own split of the dataset that it was trained on. Another store, or
/// another version, has the splits that its table states: there the default one may hold cases of
/// training.
void settle_folds(config::RunConfig& config, const EvalRequest& request, const Json& run) {
  if (config.data.folds == 0 || request.store.empty()) return;
  const auto& own = run.at("dataset_hash");
  const auto judged = cohort::Cohort::open(config.data.store);
  if (judged->dataset_hash() == own) return;
  if (request.split.empty()) {
    fail(ErrorCode::usage,
         "{} is fold {} of {} of dataset {}, and {} is another dataset, which is not dealt into "
         "folds. Name the split to judge by ({}), one whose patients the run has not seen.",
         request.run, config.data.fold, config.data.folds, own.get<std::string>().substr(0, 12),
         config.data.store, Option{"split"});
  }
  config.data.folds = 0;
}

/// The outcome of the gates that were asked for; where a file states them also that of the run's
/// own, as far as this evaluation has their figures.
void put_gates(const EvalRequest& request, const measure::Gate& own, Json& evaluation) {
  if (!request.gate.empty()) evaluation["gate"] = request.gate.check(evaluation).to_json();
  if (request.gate_file.empty()) return;
  evaluation["gate"]["file"] = request.gate_file;
  if (own.empty()) return;
  try {
    evaluation["own_gate"] = own.check(evaluation).to_json();
  } catch (const Error& error) {
    log::warning("the run's own gates are not held: {}", error.what());
  }
}

}  // namespace

namespace {

EvaluationFigures evaluated(const EvalRequest& request) {
  runs::RunFolder folder = runs::RunFolder::open(request.run);
  const std::string name = runs::weights_file(folder, request.weights);
  Json run = folder.read_json(loader::kRunFile);
  const Json stored = folder.read_json("config.json");
  config::RunConfig config =
      config::RunConfig::parse(stored.dump(), folder.describe("config.json"));
  config.data.store = request.store.empty() ? run.at("store").get<std::string>() : request.store;
  if (!request.store.empty()) config.data.expect_hash.reset();
  // Its own store in the version that it was trained on, whatever versions came later.
  config.data.version = request.store.empty() ? run.at("dataset_hash").get<std::string>() : "";
  run = with_seen_cases(config, std::move(run), config.data.store);
  settle_folds(config, request, run);
  const std::string split = request.split.empty() ? config.data.val : request.split;
  const auto preprocessing =
      std::make_shared<const loader::Preprocessing>(loader::read_run_preprocessing(folder.files()));
  const auto cohort = open_judged_cohort(config, *preprocessing, split);
  warn_of_seen_cases(request.run, run, *cohort, split);
  if (config.volumes) check_channels(*cohort, *preprocessing, {split});
  std::vector<std::string> channels;
  for (const auto& channel : preprocessing->channels) channels.push_back(channel.name);
  for (const std::string& line : lacking_channels(channels, *cohort, split))
    log::warning("{}", line);
  const std::filesystem::path into =
      request.out.empty() ? folder.path() : std::filesystem::path(request.out);
  check_takes_evaluation(into);
  inference::Network network(config, preprocessing->classes.size(),
                             loader::channel_count(*preprocessing, config));
  const std::vector<std::byte> bytes = folder.read(name);
  network.load_weights(bytes, folder.describe(name));
  Evaluation result = evaluate(
      network, cohort, config,
      {split, kReportPictures, true, read_baseline(folder, preprocessing->classes), preprocessing});
  put_weights(result, request.weights, runs::weights_identity(bytes, folder.describe(name)), config,
              run);
  put_gates(request, config.gates, result.json);
  const std::string& hash = cohort->dataset_hash();
  // A promoted model keeps the evaluation by which it passed its gates, and the report of then.
  const bool promoted = folder.has(runs::kGateFile);
  const bool own = request.weights == "final" && split == config.data.val &&
                   run.at("dataset_hash") == hash && !promoted && request.out.empty();
  write_evaluation(
      into, own ? "eval" : fmt::format("eval-{}-{}-{}", request.weights, split, hash.substr(0, 12)),
      result);
  if (!promoted && request.out.empty()) {
    try {
      write_report(folder);
    } catch (const Error& error) {  // the evaluation is there, and its gates are to be heard
      log::warning("no report was written: {}", error.what());
    }
  }
  return EvaluationFigures(std::move(result.json));
}

}  // namespace

EvaluationFigures evaluate_run(const EvalRequest& request) {
  return model::in_words([&] { return evaluated(request); });
}

}  // namespace headrace::train
