#include "learn/predict/image_predictor.hpp"

#include "headrace/core/log.hpp"
#include "learn/predict/prediction_thread.hpp"

namespace headrace::predict {

void ImagePredictor::predict(const InputStore& store, PredictOutcome& outcome) const {
  std::vector<Todo> todo;
  for (std::size_t i = 0; i < store.images.size(); ++i) {
    const std::filesystem::path folder = folder_.result(store.id(i));
    if (std::filesystem::exists(folder)) {
      outcome.images.push_back({store.id(i), folder.string(), true, "kept"});
    } else {
      todo.push_back({store.images[i], store.id(i), store.sources[i]});
    }
  }
  for (std::span<const Todo> rest = todo; !rest.empty();) {
    std::size_t done = 0;
    auto failure = run_pass(store, rest, done, outcome);
    if (!failure) return;
    rest = rest.subspan(done);
    // A batch may have tiles of the next image too: only by itself it is clear whose fault it was.
    if (rest.size() > 1) failure = run_pass(store, rest.first(1), done, outcome);
    if (failure) {
      const std::string reason = fmt::format("{}: {}", rest.front().source, failure->what());
      log::warning("left out: {}", reason);
      outcome.left_out.push_back({rest.front().source, failure->code(), reason});
    }
    rest = rest.subspan(1);
  }
}

/// Images in one pass until one fails; then the error, and in `done` how many are finished.
std::optional<Error> ImagePredictor::run_pass(const InputStore& store, std::span<const Todo> todo,
                                              std::size_t& done, PredictOutcome& outcome) const {
  done = 0;
  try {
    std::vector<std::uint32_t> images;
    for (const Todo& one : todo) images.push_back(one.image);
    EnsemblePass parts(runs_, store.cohort, images, {request_.batch, request_.flips});
    Progress progress("predict", parts.tiles(), "tiles");
    std::uint64_t shown = 0;
    for (const Todo& one : todo) {
      with_context("image " + one.id, [&] {
        predict_image({parts, progress, shown}, store, one, outcome);
      });
      ++done;
    }
  } catch (const Error& error) {
    if (request_.on_error == ingest::OnError::skip && ingest::is_of_source(error.code()))
      return error;
    throw;
  }
  return std::nullopt;
}

void ImagePredictor::predict_image(const Pass& pass, const InputStore& store, const Todo& todo,
                                   PredictOutcome& outcome) const {
  const auto prediction = begin(store, todo);
  PredictionThread thread(*prediction);
  while (pass.parts.image() == todo.image) {
    if (request_.stopped && request_.stopped())
      fail(ErrorCode::cancelled, "stopped; the same call goes on with this image");
    thread.add(pass.parts.next());
    pass.progress.advance(pass.parts.done() - pass.shown);
    pass.shown = pass.parts.done();
  }
  thread.finish();
  const std::string line = prediction->finish(more(pass.parts, todo.image));
  log::info("{}: {}", todo.id, line);
  outcome.images.push_back({todo.id, folder_.result(todo.id).string(), false, line});
}

std::unique_ptr<ImagePrediction> ImagePredictor::begin(const InputStore& store,
                                                       const Todo& todo) const {
  const TrainedRun& run = runs_.front();
  ImageTask task;
  task.cohort = store.cohort;
  task.image = todo.image;
  task.run = &run;
  task.request = &request_;
  task.folder = folder_.result(todo.id).string();
  task.facts.id = todo.id;
  task.facts.case_id = store.cohort->images()[todo.image].case_id;
  task.facts.source = todo.source;
  task.facts.task = name_of(run.config.task);
  task.facts.classes = run.classes();
  task.facts.flips = request_.flips;
  task.facts.code_version = request_.code_version;
  for (const TrainedRun& member : runs_) task.facts.networks.push_back(member.facts);
  return run.config.volumes ? predict_volume(std::move(task)) : predict_slide(std::move(task));
}

/// Findings that are not of the image's kind.
Json ImagePredictor::more(EnsemblePass& pass, std::uint32_t image) const {
  if (runs_.size() == 1) return Json::object();
  const auto agreement = pass.take_agreement(image);
  const double share = agreement.pixels == 0 ? 0.0
                                             : static_cast<double>(agreement.disputed) /
                                                   static_cast<double>(agreement.pixels);
  return {{"ensemble", {{"runs", runs_.size()}, {"disputed_share", share}}}};
}

}  // namespace headrace::predict
