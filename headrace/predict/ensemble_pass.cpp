#include "headrace/predict/ensemble_pass.hpp"

#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/result/image_result.hpp"

namespace headrace::predict {
namespace {

/// Most probable class of each pixel that is predicted; the lower of equals.
void choose_classes(BlendedPart& part) {
  const std::size_t pixels = part.classes.size(), classes = part.probabilities.size() / pixels;
  for (std::size_t i = 0; i < pixels; ++i) {
    if (part.classes[i] == result::kNotPredicted) continue;
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes; ++c) {
      if (part.probabilities[c * pixels + i] > part.probabilities[best * pixels + i]) best = c;
    }
    part.classes[i] = static_cast<std::uint8_t>(best);
  }
}

}  // namespace

EnsemblePass::EnsemblePass(const std::vector<TrainedRun>& runs,
                           const std::shared_ptr<const cohort::Cohort>& cohort,
                           const std::vector<std::uint32_t>& images,
                           const TilePass::Options& options) {
  TilePass::Options own = options;
  own.alone = runs.size() == 1;
  for (const TrainedRun& run : runs)
    passes_.push_back(std::make_unique<TilePass>(run, cohort, images, own));
}

std::uint64_t EnsemblePass::tiles() const {
  std::uint64_t sum = 0;
  for (const auto& pass : passes_) sum += pass->tiles();
  return sum;
}

std::uint64_t EnsemblePass::done() const {
  std::uint64_t sum = 0;
  for (const auto& pass : passes_) sum += pass->done();
  return sum;
}

std::optional<std::uint32_t> EnsemblePass::image() {
  if (!ahead_) ahead_ = passes_.front()->next();
  return ahead_ ? std::optional(ahead_->image) : std::nullopt;
}

BlendedPart EnsemblePass::next() {
  image();
  BlendedPart mean = *std::exchange(ahead_, std::nullopt);
  if (passes_.size() == 1) return mean;
  std::vector<bool> disputed(mean.classes.size(), false);
  for (std::size_t k = 1; k < passes_.size(); ++k) {
    const auto part = passes_[k]->next();
    if (!part || part->image != mean.image || part->at != mean.at)
      fail(ErrorCode::internal, "The runs of an ensemble give other parts of image {}.",
           mean.image);
    for (std::size_t i = 0; i < mean.classes.size(); ++i)
      if (part->classes[i] != mean.classes[i]) disputed[i] = true;
    for (std::size_t i = 0; i < mean.probabilities.size(); ++i)
      mean.probabilities[i] += part->probabilities[i];
  }
  const auto runs = static_cast<float>(passes_.size());
  for (float& probability : mean.probabilities) probability /= runs;
  for (std::size_t i = 0; i < mean.classes.size(); ++i) {
    agreement_.pixels += mean.classes[i] != result::kNotPredicted;
    agreement_.disputed += disputed[i];
  }
  choose_classes(mean);
  return mean;
}

EnsemblePass::Agreement EnsemblePass::take_agreement() { return std::exchange(agreement_, {}); }

}  // namespace headrace::predict
