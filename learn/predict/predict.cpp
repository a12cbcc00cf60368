#include "learn/predict/predict.hpp"

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "learn/model/torch_errors.hpp"
#include "learn/predict/input_predictor.hpp"
#include "learn/predict/prediction_runs.hpp"

namespace headrace::predict {
namespace {

struct SortedInputs {
  std::vector<std::string> stores, files;
};

/// Errors: usage: what can be refused before anything is written.
SortedInputs sorted_inputs(const PredictRequest& request) {
  SortedInputs out;
  for (const std::string& input : request.inputs) {
    // A URL, too: opening it tells why it can't be read.
    const bool store = cohort::is_store(input);
    (store ? out.stores : out.files).push_back(input);
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

PredictOutcome predicted(const PredictRequest& asked) {
  const auto [stores, files] = sorted_inputs(asked);
  const std::vector<TrainedRun> runs = open_runs(asked);
  const PredictRequest request = settled(asked, runs);
  if (!files.empty()) check_takes_files(runs.front(), files.front());
  InputPredictor predictor(request, runs);
  const auto opened = predictor.open(stores);
  const auto groups = predictor.groups_of(files);
  predictor.check_names(opened, groups);
  PredictOutcome outcome;
  for (const InputStore& store : opened) predictor.predict_store(store, outcome);
  for (const auto& group : groups) predictor.predict_files(group, outcome);
  predictor.clear_work();
  if (!outcome.images.empty()) predictor.write_table();
  return outcome;
}

}  // namespace

PredictOutcome predict(const PredictRequest& request) {
  return model::in_words([&] { return predicted(request); });
}

}  // namespace headrace::predict
