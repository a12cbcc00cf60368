#include "learn/predict/part_queue.hpp"

#include <utility>

#include "headrace/core/ignore_label.hpp"
#include "learn/inference/patch_grid.hpp"

namespace headrace::predict {

void PartQueue::put(inference::StitchedPart& part) {
  BlendedPart& own = parts_.emplace_back(BlendedPart{part.image, part.at, {}, {}});
  if (!part.covered) return;
  own.classes = std::move(part.predicted);
  own.probabilities = std::move(part.probabilities);
  own.scores = std::move(part.scores);
}

BlendedPart PartQueue::take() {
  BlendedPart part = std::move(parts_.front());
  parts_.pop_front();
  if (!part.classes.empty()) return part;
  const auto extent = inference::extent_zyx(cohort_->images()[part.image], config_);
  const auto pixels = static_cast<std::size_t>(config_.volumes ? extent[1] * extent[2] : extent[2]);
  part.classes.assign(pixels, kIgnoreLabel);
  if (there_) {
    part.scores.assign(pixels * (classes_ + 1), 0);
  } else {
    part.probabilities.assign(pixels * classes_, 0.0f);
  }
  return part;
}

}  // namespace headrace::predict
