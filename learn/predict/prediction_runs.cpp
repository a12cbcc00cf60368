#include "learn/predict/prediction_runs.hpp"

#include <span>

#include "headrace/core/error.hpp"
#include "headrace/core/release.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::predict {
namespace {

/// Of what the flag of a study follows from; null where that is nothing.
Json evaluation_hash(const TrainedRun& run) {
  if (run.config.task != loader::Task::lesions || !run.evaluation.value) return nullptr;
  const std::string text = run.evaluation.value->dump();
  return sha256_hex(std::as_bytes(std::span(text)));
}

}  // namespace

std::vector<TrainedRun> open_runs(const PredictRequest& request) {
  std::vector<TrainedRun> runs;
  for (const std::string& run : request.runs) runs.push_back(open_trained_run(run, request.run));
  check_ensemble(runs);
  if (runs.size() > 1) {
    runs.front().evaluation = OrReason<Json>::none(
        "a mean of several runs has other scores than the validation of each run");
  } else if (request.flips) {
    runs.front().evaluation = OrReason<Json>::none(
        "a mean over mirrored images has other scores than the run's validation");
  }
  return runs;
}

PredictRequest settled(PredictRequest request, const std::vector<TrainedRun>& runs) {
  const double by_labels = runs.front().preprocessing->least_region_mm2;
  if (request.min_region_mm2) {
    request.slide.min_region_mm2 = *request.min_region_mm2;
  } else if (by_labels > 0) {
    request.slide.min_region_mm2 = by_labels;
  }
  return request;
}

Json identity_of(const PredictRequest& request, const std::vector<TrainedRun>& runs) {
  Json weights = Json::array();
  for (const TrainedRun& run : runs) {
    weights.push_back({{"weights_sha256", run.facts.weights_sha256},
                       {"config_hash", run.facts.config_hash},
                       {"preprocessing_sha256", run.facts.preprocessing_sha256}});
  }
  return {{"format", 1},
          {"runs", weights},
          {"flips", request.flips},
          {"code_version", release_of(request.code_version)},
          {"mpp", request.mpp ? Json(*request.mpp) : Json(nullptr)},
          {"evaluation_sha256", evaluation_hash(runs.front())},
          {"min_region_mm2", request.slide.min_region_mm2},
          {"false_positives_per_scan", request.false_positives_per_scan}};
}

void check_takes_files(const TrainedRun& run, const std::string& file) {
  const auto& channels = run.preprocessing->channels;
  if (channels.empty()) return;
  const bool alone = channels.size() == 1;
  if (!alone && channels.front().unit == IntensityUnit::hu) return;
  fail(ErrorCode::usage,
       "{}: the run reads channel '{}' {}, and files alone do not say which of them has that one. "
       "Ingest {} with the channels named, CT first (headrace ingest volumes), and predict that "
       "store.",
       run.folder, channels.front().name, alone ? "of several" : "first, which is not CT", file);
}

}  // namespace headrace::predict
