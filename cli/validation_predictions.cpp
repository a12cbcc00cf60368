#include "cli/validation_predictions.hpp"

#include <filesystem>

#include "cli/code_version.hpp"
#include "cli/stop_signal.hpp"
#include "learn/predict/predict.hpp"
#include "learn/runs/run_folder.hpp"

namespace headrace::cli {

void predict_validation(const std::string& run, const std::string& store) {
  StopSignal signal;
  predict::PredictRequest request;
  request.runs = {run};
  request.inputs = {store};
  const Json evaluation = runs::RunFolder::open(run).read_json("eval.json");
  // By id: of a fold they are no split of the store.
  for (const Json& image : evaluation.at("images"))
    request.images.push_back(image.at("id").get<std::string>());
  request.out = (std::filesystem::path(run) / "predictions").string();
  request.code_version = code_version();
  request.stopped = [&signal] { return signal.asked() != 0; };
  if (!request.images.empty()) predict::predict(request);
}

}  // namespace headrace::cli
