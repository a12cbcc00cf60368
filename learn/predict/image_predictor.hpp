#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/progress.hpp"
#include "learn/predict/ensemble_pass.hpp"
#include "learn/predict/image_prediction.hpp"
#include "learn/predict/input_store.hpp"
#include "learn/predict/output_folder.hpp"

namespace headrace::predict {

/// Predicts the images of open stores into an output folder. Its arguments must outlive it. One
/// thread.
class ImagePredictor {
 public:
  ImagePredictor(const PredictRequest& request, const std::vector<TrainedRun>& runs,
                 const OutputFolder& folder)
      : request_(request), runs_(runs), folder_(folder) {}

  /// All images of the store whose results are not there yet; the others are kept. With on_error
  /// skip an image that fails by its own fault is left out and the others go on.
  /// errors  cancelled, those of reading
  void predict(const InputStore& store, PredictOutcome& outcome) const;

 private:
  struct Todo {
    std::uint32_t image = 0;
    std::string id, source;
  };
  std::optional<Error> run_pass(const InputStore& store, std::span<const Todo> todo,
                                std::size_t& done, PredictOutcome& outcome) const;
  struct Pass {
    EnsemblePass& parts;
    Progress& progress;
    std::uint64_t& shown;  ///< tiles
  };
  void predict_image(const Pass& pass, const InputStore& store, const Todo& todo,
                     PredictOutcome& outcome) const;
  std::unique_ptr<ImagePrediction> begin(const InputStore& store, const Todo& todo) const;
  Json more(EnsemblePass& pass, std::uint32_t image) const;

  const PredictRequest& request_;
  const std::vector<TrainedRun>& runs_;
  const OutputFolder& folder_;
};

}  // namespace headrace::predict
