#include "headrace/predict/predict.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/predict/case_table.hpp"
#include "headrace/predict/ensemble_pass.hpp"
#include "headrace/predict/image_prediction.hpp"
#include "headrace/predict/input_store.hpp"
#include "headrace/predict/output_folder.hpp"

namespace headrace::predict {
namespace {

/// Of what the flag of a study follows from; null where that is nothing.
Json evaluation_hash(const TrainedRun& run) {
  if (run.config.task != loader::Task::colorectal || !run.evaluation.value) return nullptr;
  const std::string text = run.evaluation.value->dump();
  return sha256_hex(std::as_bytes(std::span(text)));
}

/// What decides the result of an image besides the image.
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
          {"code_version", request.code_version},
          {"mpp", request.mpp ? Json(*request.mpp) : Json(nullptr)},
          {"evaluation_sha256", evaluation_hash(runs.front())},
          {"min_region_mm2", request.slide.min_region_mm2},
          {"false_positives_per_scan", request.false_positives_per_scan}};
}

/// The files that are ingested together: one by one, but all where several may be channels of one
/// image.
std::vector<std::vector<std::string>> groups_of(const std::vector<std::string>& files,
                                                const TrainedRun& run) {
  if (files.empty()) return {};
  if (run.config.volumes && run.preprocessing->channels.size() > 1) return {files};
  std::vector<std::vector<std::string>> out;
  for (const std::string& file : files) out.push_back({file});
  return out;
}

struct SortedInputs {
  std::vector<std::string> stores, files;
};

/// Errors: usage: what can be refused before anything is written.
SortedInputs sorted_inputs(const PredictRequest& request) {
  SortedInputs out;
  for (const std::string& input : request.inputs) {
    (is_store(input) ? out.stores : out.files).push_back(input);
    check_apart(request.out, input);
  }
  if (!out.files.empty() && (!request.images.empty() || !request.split.empty())) {
    fail(ErrorCode::usage,
         "{} and {} choose images of a store, and {} is not one; name the files themselves, in a "
         "call of their own",
         Option{"images"}, Option{"split"}, out.files.front());
  }
  return out;
}

class Prediction {
 public:
  Prediction(const PredictRequest& request, const std::vector<TrainedRun>& runs)
      : request_(request), runs_(runs), folder_(request.out, identity_of(request, runs)) {}

  PredictOutcome run() {
    const auto [stores, files] = sorted_inputs(request_);
    if (!stores.empty()) {
      for (const InputStore& store : open_stores(stores, choice(), runs_.front())) {
        check_sources(store);
        predict_store(store);
      }
    }
    for (const auto& group : groups_of(files, runs_.front())) predict_files(group);
    folder_.clear_work();
    if (!outcome_.images.empty()) write_case_table(folder_.path(), runs_.front());
    return std::move(outcome_);
  }

 private:
  InputChoice choice() const {
    InputChoice out;
    out.images = request_.images;
    out.split = request_.split;
    out.mpp = request_.mpp;
    out.on_error = request_.on_error;
    out.jobs = request_.run.loader_threads;
    return out;
  }

  void predict_files(const std::vector<std::string>& files) {
    const std::string path = folder_.store_for(files);
    InputStore store;
    std::vector<ingest::BadInput> left_out;
    try {
      if (const auto ids = folder_.finished(files)) {
        for (const std::string& id : *ids)
          outcome_.images.push_back({id, folder_.result(id).string(), true, "kept"});
        return;
      }
      store = ingested(files, path, left_out);
    } catch (const Error& error) {
      // What a full disk stopped goes on from here; all else a later call would meet again.
      if (error.code() != ErrorCode::io) folder_.clear_work();
      const bool skipped = request_.on_error == ingest::OnError::skip &&
                           ingest::is_of_source(error.code()) && !folder_.knows(files);
      if (!skipped) throw;
      outcome_.left_out.push_back({files.front(), error.code(), error.what()});
      return;
    }
    outcome_.left_out.insert(outcome_.left_out.end(), left_out.begin(), left_out.end());
    std::vector<std::string> ids;
    for (const std::uint32_t image : store.images) ids.push_back(store.cohort->images()[image].id);
    check_sources(store);
    predict_store(store);
    if (left_out.empty()) folder_.mark_finished(files, ids);
    std::filesystem::remove_all(path);
  }

  InputStore ingested(const std::vector<std::string>& files, const std::string& path,
                      std::vector<ingest::BadInput>& left_out) const {
    InputChoice own = choice();
    if (runs_.front().config.volumes) own.key_file = folder_.patients_key();
    InputStore store = ingest_inputs(files, own, runs_.front(), path, left_out);
    folder_.keep_patients_key(path);
    return store;
  }

  /// Refuses images whose name another one's result has, before any of them is predicted.
  void check_sources(const InputStore& store) const {
    for (std::size_t i = 0; i < store.images.size(); ++i) {
      const std::string& id = store.cohort->images()[store.images[i]].id;
      const std::filesystem::path folder = folder_.result(id);
      if (!std::filesystem::exists(folder)) continue;
      const result::ImageResult found = result::ImageResult::open(folder);
      if (found.facts().source == store.sources[i]) continue;
      folder_.clear_work();
      fail(
          ErrorCode::usage,
          "{}: is the prediction of {}, and {} has an image of the same name '{}'. Predict it into "
          "another output folder.",
          folder.string(), found.facts().source, store.sources[i], id);
    }
  }

  void predict_store(const InputStore& store) {
    std::vector<std::uint32_t> todo;
    std::map<std::uint32_t, std::string> sources;
    for (std::size_t i = 0; i < store.images.size(); ++i) {
      const std::string& id = store.cohort->images()[store.images[i]].id;
      if (keep(id)) continue;
      todo.push_back(store.images[i]);
      sources[store.images[i]] = store.sources[i];
    }
    if (todo.empty()) return;
    EnsemblePass pass(runs_, store.cohort, todo, {request_.batch, request_.flips});
    Progress progress("predict", pass.tiles(), "tiles");
    std::uint64_t shown = 0;
    for (const std::uint32_t image : todo) {
      const std::string& id = store.cohort->images()[image].id;
      with_context("image " + id, [&] {
        const auto prediction = begin(store, image, sources.at(image));
        while (pass.image() == image) {
          prediction->add(pass.next());
          progress.advance(pass.done() - shown);
          shown = pass.done();
        }
        const std::string line = prediction->finish(more(pass));
        log::info("{}: {}", id, line);
        outcome_.images.push_back({id, folder_.result(id).string(), false, line});
      });
    }
  }

  /// Whether the image was finished earlier.
  bool keep(const std::string& id) {
    const std::filesystem::path folder = folder_.result(id);
    if (!std::filesystem::exists(folder)) return false;
    outcome_.images.push_back({id, folder.string(), true, "kept"});
    return true;
  }

  std::unique_ptr<ImagePrediction> begin(const InputStore& store, std::uint32_t image,
                                         const std::string& source) const {
    const cohort::ImageRecord& record = store.cohort->images()[image];
    const TrainedRun& run = runs_.front();
    ImageTask task;
    task.cohort = store.cohort;
    task.image = image;
    task.run = &run;
    task.request = &request_;
    task.folder = folder_.result(record.id).string();
    task.facts.id = record.id;
    task.facts.case_id = record.case_id;
    task.facts.source = source;
    task.facts.task = name_of(run.config.task);
    task.facts.classes = run.classes();
    task.facts.flips = request_.flips;
    task.facts.code_version = request_.code_version;
    for (const TrainedRun& member : runs_) task.facts.networks.push_back(member.facts);
    return run.config.volumes ? predict_volume(std::move(task)) : predict_slide(std::move(task));
  }

  /// Findings that are not of the image's kind.
  Json more(EnsemblePass& pass) const {
    if (runs_.size() == 1) return Json::object();
    const auto agreement = pass.take_agreement();
    const double share = agreement.pixels == 0 ? 0.0
                                               : static_cast<double>(agreement.disputed) /
                                                     static_cast<double>(agreement.pixels);
    return {{"ensemble", {{"runs", runs_.size()}, {"disputed_share", share}}}};
  }

  const PredictRequest& request_;
  const std::vector<TrainedRun>& runs_;
  OutputFolder folder_;
  PredictOutcome outcome_;
};

}  // namespace

PredictOutcome predict(const PredictRequest& request) {
  sorted_inputs(request);
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
  return Prediction(request, runs).run();
}

}  // namespace headrace::predict
