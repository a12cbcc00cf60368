#include "learn/train/volume/volume_tally.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <span>

#include "learn/inference/tensor_math.hpp"
#include "learn/measure/base/score.hpp"

namespace headrace::train {

VolumeTally::VolumeTally(const measure::VolumeRules& rules)
    : calibration_(rules.classes, rules.class_sets) {
  const auto membership = rules.lesion_membership();
  const auto classes = classes_by_value(rules.classes, rules.class_sets);
  for (std::size_t c = 0; c < rules.classes; ++c) {
    if (membership[c] == Membership::inside)
      lesion_classes_.push_back(static_cast<std::uint8_t>(c));
  }
  std::vector<std::uint8_t> stated;
  std::vector<std::int32_t> lesion;
  for (std::size_t label = 0; label < 256; ++label) {
    stated.push_back(classes[label].any() ? 1 : 0);
    lesion.push_back(static_cast<std::int32_t>(membership[label]));
  }
  stated_ = at::tensor(stated, at::kByte).to(at::kBool);
  lesion_of_ = at::tensor(lesion, at::kInt);
}

void VolumeTally::start(const inference::PartTensors& slices) {
  const at::Device device = slices.means.device();
  for (at::Tensor* table : {&stated_, &lesion_of_}) *table = table->to(device);
  lesion_ = no_counts(kScoreCounts, device);
  calibration_.start(device);
  image_ = slices.image;
}

at::Tensor VolumeTally::add(const inference::PartTensors& slices, const at::Tensor& body) {
  if (image_ != slices.image) {
    close();
    start(slices);
  }
  if (!slices.truth.defined()) return {};
  const at::Tensor labels = slices.truth.to(at::kInt);
  at::Tensor counted;
  if (body.defined()) {
    counted = looked_up(stated_, labels).logical_and(body.ne(0));
    calibration_.add(slices.means, slices.predicted, labels, counted);
  }
  if (lesion_classes_.empty()) return {};
  const at::Tensor membership = looked_up(lesion_of_, labels);
  const at::Tensor told = membership.ne(static_cast<std::int64_t>(Membership::undecided));
  const at::Tensor sum = inference::sum_of(slices.means, lesion_classes_);
  const at::Tensor score =
      at::where(told, inference::in_steps(sum, measure::kScoreSteps), 0).to(at::kInt);
  if (counted.defined()) {
    const at::Tensor positive = membership.eq(static_cast<std::int64_t>(Membership::inside));
    lesion_.add_(counts_of_scores(score, positive, told.logical_and(counted)));
  }
  return score;
}

void VolumeTally::close() {
  if (!image_) return;
  closed_.put(*image_, at::cat({lesion_, calibration_.counts()}));
  image_.reset();
}

measure::VoxelCounts VolumeTally::take(std::uint32_t image) {
  if (image_ == image) close();
  measure::VoxelCounts out;
  const std::vector<std::int64_t> all = closed_.take(image);
  if (all.empty()) return out;
  const std::span<const std::int64_t> counts(all);
  out.lesion = scores_from(counts.first(kScoreCounts));
  out.highest = scores_from(counts.subspan(kScoreCounts, kScoreCounts));
  out.squared_steps = static_cast<std::uint64_t>(counts.back());
  return out;
}

}  // namespace headrace::train
