#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/json.hpp"
#include "learn/predict/part_queue.hpp"
#include "learn/predict/predict.hpp"
#include "learn/predict/trained_run.hpp"

namespace headrace::predict {

/// What becomes of one image: takes its blended parts, and leaves the finished result. One thread
/// at a time.
class ImagePrediction {
 public:
  virtual ~ImagePrediction() = default;
  /// The next part, from 0 on.
  virtual void add(BlendedPart part) = 0;
  /// After the last part, or without any for an image without tissue: completes the result. `more`
  /// is added to its findings. Returns the findings in one line.
  virtual std::string finish(const Json& more) = 0;
};

/// All that the prediction of an image is made with.
struct ImageTask {
  std::shared_ptr<const cohort::Cohort> cohort;
  std::uint32_t image = 0;
  const TrainedRun* run = nullptr;  ///< the first of an ensemble
  const PredictRequest* request = nullptr;
  result::ImageFacts facts;  ///< without the map
  std::string folder;        ///< of the result
};

std::unique_ptr<ImagePrediction> predict_slide(ImageTask task);
std::unique_ptr<ImagePrediction> predict_volume(ImageTask task);

}  // namespace headrace::predict
