#include "learn/predict/ensemble_pass.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "learn/inference/canvas_choice.hpp"
#include "learn/predict/part_use.hpp"

namespace headrace::predict {
namespace {

/// Most probable class of each pixel that is predicted; the lower of equals.
void choose_classes(BlendedPart& part) {
  const std::size_t pixels = part.classes.size(), classes = part.probabilities.size() / pixels;
  for (std::size_t i = 0; i < pixels; ++i) {
    if (part.classes[i] == kIgnoreLabel) continue;
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
  for (const TrainedRun& run : runs)
    passes_.push_back(std::make_unique<TilePass>(run, cohort, images, options));
  if (tiles() == 0) return;
  const TrainedRun& first = runs.front();
  const auto add_queue = [&](bool there) {
    queues_.push_back(
        std::make_unique<PartQueue>(cohort, first.config, first.classes().size(), there));
    return [queue = queues_.back().get()](inference::StitchedPart& part) { queue->put(part); };
  };
  if (!options.network) {
    std::vector<const inference::Network*> networks;
    for (const TrainedRun& run : runs) networks.push_back(run.network.get());
    std::int64_t batch = 0;
    for (const auto& pass : passes_) batch = std::max(batch, pass->batch());
    const auto classes = static_cast<std::int64_t>(first.classes().size());
    auto [mean, canvases] =
        inference::canvases_there(networks, {classes, *cohort, first.config, images, batch},
                                  part_use(first), add_queue(true));
    for (std::size_t run = 0; run < canvases.size(); ++run)
      passes_[run]->start_there(std::move(canvases[run]));
    mean_ = std::move(mean);
    if (!canvases.empty()) return;
    queues_.clear();
  }
  for (const auto& pass : passes_) pass->start_here(add_queue(false));
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

/// Predicts until a queue has a part. False: none comes any more.
bool EnsemblePass::fill(std::size_t queue) {
  while (queues_[queue]->empty()) {
    // Where one queue has the mean of all: the run that it waits for, or one that only has to end.
    std::size_t run = mean_ ? mean_->behind() : queue;
    const std::size_t end = mean_ ? passes_.size() : queue + 1;
    while (run < end && !passes_[run]->step()) ++run;
    if (run == end) return false;
  }
  return true;
}

std::optional<std::uint32_t> EnsemblePass::image() {
  if (queues_.empty() || !fill(0)) return std::nullopt;
  return queues_.front()->front().image;
}

BlendedPart EnsemblePass::next() {
  fill(0);
  BlendedPart part = queues_.front()->take();
  if (queues_.size() > 1) average(part);
  return part;
}

/// The first run's part with those of the others.
void EnsemblePass::average(BlendedPart& mean) {
  std::vector<bool> disputed(mean.classes.size(), false);
  for (std::size_t k = 1; k < queues_.size(); ++k) {
    const bool there_is_one = fill(k);
    const BlendedPart part = there_is_one ? queues_[k]->take() : BlendedPart{};
    if (!there_is_one || part.image != mean.image || part.at != mean.at)
      fail(ErrorCode::internal, "The runs of an ensemble give other parts of image {}.",
           mean.image);
    for (std::size_t i = 0; i < mean.classes.size(); ++i)
      if (part.classes[i] != mean.classes[i]) disputed[i] = true;
    for (std::size_t i = 0; i < mean.probabilities.size(); ++i)
      mean.probabilities[i] += part.probabilities[i];
  }
  const auto runs = static_cast<float>(queues_.size());
  for (float& probability : mean.probabilities) probability /= runs;
  for (std::size_t i = 0; i < mean.classes.size(); ++i) {
    agreement_.pixels += mean.classes[i] != kIgnoreLabel;
    agreement_.disputed += disputed[i];
  }
  choose_classes(mean);
}

inference::RunAgreement EnsemblePass::take_agreement(std::uint32_t image) {
  return mean_ ? mean_->take_agreement(image) : std::exchange(agreement_, {});
}

}  // namespace headrace::predict
