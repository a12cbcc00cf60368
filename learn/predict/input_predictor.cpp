#include "learn/predict/input_predictor.hpp"

#include <algorithm>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/loader/plan/enlargement.hpp"
#include "learn/predict/case_table.hpp"
#include "learn/predict/prediction_runs.hpp"

namespace headrace::predict {
namespace {

/// JSON is UTF-8, and results state the paths that they come from. Errors: usage.
void check_paths(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    try {
      Json(file).dump();
    } catch (const Json::type_error&) {
      fail(ErrorCode::usage, "{}: its path is not UTF-8, and results state it; rename it", file);
    }
  }
}

}  // namespace

InputPredictor::InputPredictor(const PredictRequest& request, const std::vector<TrainedRun>& runs)
    : request_(request),
      runs_(runs),
      folder_(request.out, identity_of(request, runs)),
      images_(request, runs, folder_) {}

std::vector<std::vector<std::string>> InputPredictor::groups_of(
    const std::vector<std::string>& files) const {
  if (files.empty()) return {};
  const TrainedRun& run = runs_.front();
  if (run.config.volumes && run.preprocessing->channels.size() > 1) return {files};
  std::vector<std::vector<std::string>> out;
  for (const std::string& file : files) out.push_back({file});
  return out;
}

InputChoice InputPredictor::choice() const {
  InputChoice out;
  out.images = request_.images;
  out.split = request_.split;
  out.mpp = request_.mpp;
  out.on_error = request_.on_error;
  out.accept = request_.accept;
  out.sources = request_.sources;
  out.jobs = request_.run.loader_threads;
  if (runs_.front().config.volumes) out.key_file = folder_.patients_key();
  return out;
}

std::vector<InputStore> InputPredictor::open(const std::vector<std::string>& stores) const {
  if (stores.empty()) return {};
  return open_stores(stores, choice(), runs_.front());
}

void InputPredictor::check_names(const std::vector<InputStore>& stores,
                                 const std::vector<std::vector<std::string>>& groups) const {
  for (const auto& files : groups) check_paths(files);
  if (stores.size() + groups.size() < 2) return;
  std::map<std::string, std::string> known;
  const auto take = [&](const std::string& id, const std::string& source) {
    check_source(id, source);
    const auto [other, made] = known.try_emplace(id, source);
    if (made || other->second == source) return;
    fail(ErrorCode::usage,
         "{} and {} both have an image '{}', and results are named by their images. Predict them "
         "into two output folders.",
         other->second, source, id);
  };
  for (const InputStore& store : stores) {
    for (std::size_t i = 0; i < store.images.size(); ++i) take(store.id(i), store.sources[i]);
  }
  for (const auto& files : groups) {
    for (const auto& [id, source] : sources(files)) take(id, source);
  }
}

/// Of the images of these files, without reading them again where they are known.
std::map<std::string, std::string> InputPredictor::sources(
    const std::vector<std::string>& files) const {
  const auto finished = folder_.images_of(files);
  if (finished.empty())
    return sources_by_id(files, choice(), runs_.front(), folder_.store_for(files));
  std::map<std::string, std::string> out;
  for (const std::string& id : finished) out[id] = source_of(id, files);
  return out;
}

void InputPredictor::predict_store(const InputStore& store, PredictOutcome& outcome) {
  const auto contents = store.contents();
  for (std::size_t i = 0; i < store.images.size(); ++i) {
    check_source(store.id(i), store.sources[i]);
    check_content(store, i, contents.at(store.id(i)));
  }
  const InputStore fitting = without_enlarged(store, outcome);
  folder_.remember(contents);
  images_.predict(fitting, outcome);
}

/// Refuses an image that has less detail than the network was trained to look at.
void InputPredictor::check_enlargement(const InputStore& store, std::size_t image) const {
  const TrainedRun& run = runs_.front();
  const double times = loader::enlargement(store.cohort->images()[store.images[image]], run.config);
  const double most = std::max(loader::kMostEnlarged, run.preprocessing->enlarged);
  if (times <= most * (1 + loader::kSameSize)) return;
  const bool volumes = run.config.volumes;
  ingest::refuse_unless(
      request_.accept, ingest::Doubt::enlarged, ErrorCode::usage,
      fmt::format("{}: image '{}' would be enlarged {:.1f} times to the {} of {}, at most {:.3g} "
                  "is known to work; predict an image of finer {}, or train a run at this one",
                  store.sources[image], store.id(image), times, volumes ? "spacing" : "pixel size",
                  run.folder, most, volumes ? "spacing" : "pixels"));
}

/// Before the first tile of any.
InputStore InputPredictor::without_enlarged(const InputStore& store,
                                            PredictOutcome& outcome) const {
  InputStore out{store.cohort, {}, {}};
  for (std::size_t i = 0; i < store.images.size(); ++i) {
    try {
      check_enlargement(store, i);
      out.images.push_back(store.images[i]);
      out.sources.push_back(store.sources[i]);
    } catch (const Error& error) {
      if (request_.on_error == ingest::OnError::stop) throw;
      outcome.left_out.push_back({store.sources[i], error.code(), error.what()});
    }
  }
  return out;
}

bool InputPredictor::predict_files(const std::vector<std::string>& files, PredictOutcome& outcome) {
  check_paths(files);
  const std::string path = folder_.store_for(files);
  if (const auto ids = folder_.finished(files)) {
    for (const std::string& id : *ids)
      outcome.images.push_back({id, folder_.result(id).string(), true, "kept"});
    return false;
  }
  const auto stamps = OutputFolder::stamps_of(files);
  std::vector<ingest::BadInput> left_out;
  InputStore store;
  try {
    store = ingested(files, path, left_out);
    if (OutputFolder::stamps_of(files) != stamps)
      fail(ErrorCode::malformed, "{}: changed while it was read; predict it when it is whole",
           files.front());
  } catch (const Error& error) {
    // What a full disk stopped goes on from here; all else a later call would meet again.
    if (error.code() != ErrorCode::io) folder_.clear_work();
    if (request_.on_error == ingest::OnError::stop || !ingest::is_of_source(error.code())) throw;
    outcome.left_out.push_back({files.front(), error.code(), error.what()});
    return true;
  }
  const std::size_t bad = outcome.left_out.size();
  outcome.left_out.insert(outcome.left_out.end(), left_out.begin(), left_out.end());
  try {
    predict_store(store, outcome);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::usage) folder_.clear_work();
    throw;
  }
  if (outcome.left_out.size() == bad) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < store.images.size(); ++i) ids.push_back(store.id(i));
    folder_.mark_finished(files, stamps, ids);
  }
  std::filesystem::remove_all(path);
  return true;
}

InputStore InputPredictor::ingested(const std::vector<std::string>& files, const std::string& path,
                                    std::vector<ingest::BadInput>& left_out) const {
  InputStore store = ingest_inputs(files, choice(), runs_.front(), path, left_out);
  folder_.keep_patients_key(path);
  return store;
}

/// Refuses an image whose name another one's result has.
void InputPredictor::check_source(const std::string& id, const std::string& source) const {
  const std::filesystem::path folder = folder_.result(id);
  if (!std::filesystem::exists(folder)) return;
  const std::string found = result::ImageResult::open(folder).facts().source;
  if (found == source) return;
  fail(ErrorCode::usage,
       "{}: is the prediction of {}, and {} has an image of the same name '{}'. Predict it into "
       "another output folder.",
       folder.string(), found, source, id);
}

/// Refuses an image whose result is of other content.
void InputPredictor::check_content(const InputStore& store, std::size_t image,
                                   const std::string& content) const {
  const std::string& id = store.id(image);
  const std::filesystem::path folder = folder_.result(id);
  const std::string known = folder_.content_of(id);
  if (!std::filesystem::exists(folder) || known.empty() || known == content) return;
  fail(ErrorCode::usage,
       "{}: image '{}' has changed since it was predicted. Predict it into another output folder, "
       "or remove {} first.",
       store.sources[image], id, folder.string());
}

void InputPredictor::write_table() const { write_case_table(folder_.path(), runs_.front()); }

}  // namespace headrace::predict
