#include "learn/train/slide/slide_tally.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <span>
#include <vector>

#include "headrace/core/ignore_label.hpp"
#include "learn/inference/tensor_math.hpp"
#include "learn/measure/base/score.hpp"

namespace headrace::train {

SlideTally::SlideTally(const measure::SlideRules& rules)
    : classes_(rules.classes.size()),
      values_(classes_ + rules.class_sets.size()),
      is_tumour_(rules.tumour),
      calibration_(classes_, rules.class_sets) {
  const auto membership = region_membership(rules.region(rules.regions() - 1), rules.class_sets);
  std::vector<std::int32_t> value, tumour;
  for (std::size_t label = 0; label < 256; ++label) {
    value.push_back(static_cast<std::int32_t>(std::min(label, values_)));
    tumour.push_back(static_cast<std::int32_t>(membership[label]));
  }
  value_of_ = at::tensor(value, at::kInt);
  tumour_of_ = at::tensor(tumour, at::kInt);
}

void SlideTally::start(const inference::PartTensors& parts) {
  const at::Device device = parts.means.device();
  for (at::Tensor* table : {&value_of_, &tumour_of_}) *table = table->to(device);
  pairs_ = no_counts(static_cast<std::int64_t>((values_ + 1) * classes_), device);
  tumour_ = no_counts(kScoreCounts, device);
  calibration_.start(device);
  image_ = parts.image;
}

void SlideTally::add(const inference::PartTensors& parts) {
  if (image_ != parts.image) {
    close();
    start(parts);
  }
  const at::Tensor labels = parts.truth.to(at::kInt);
  const at::Tensor value = looked_up(value_of_, labels);
  const at::Tensor seen = parts.predicted.ne(kIgnoreLabel);
  const auto classes = static_cast<std::int64_t>(classes_);
  pairs_.add_(
      counts_of(at::where(seen, value.mul(classes).add(parts.predicted), -1), pairs_.size(0)));
  const at::Tensor annotated = seen.logical_and(value.lt(static_cast<std::int64_t>(values_)));
  calibration_.add(parts.means, parts.predicted, labels, annotated);
  const at::Tensor undecided = at::where(annotated, looked_up(tumour_of_, labels),
                                         static_cast<std::int64_t>(Membership::undecided));
  count_tumour(parts, undecided);
}

/// The tumour's share of the probabilities, where labels decide about it.
void SlideTally::count_tumour(const inference::PartTensors& parts, const at::Tensor& membership) {
  at::Tensor all, inside = at::zeros_like(parts.means.select(1, 0));
  for (std::size_t c = 0; c < classes_; ++c) {
    const at::Tensor p = parts.means.select(1, static_cast<std::int64_t>(c));
    all = c == 0 ? p : all.add(p);
    if (is_tumour_[c]) inside = inside.add(p);
  }
  const at::Tensor decided = membership.ne(static_cast<std::int64_t>(Membership::undecided));
  const at::Tensor positive = membership.eq(static_cast<std::int64_t>(Membership::inside));
  const at::Tensor score = inference::in_steps(inside.div(all), measure::kScoreSteps);
  tumour_.add_(counts_of_scores(score, positive, decided));
}

void SlideTally::close() {
  if (!image_) return;
  closed_.put(*image_, at::cat({pairs_, tumour_, calibration_.counts()}));
  image_.reset();
}

measure::PixelCounts SlideTally::take(std::uint32_t image) {
  if (image_ == image) close();
  measure::PixelCounts out;
  out.pairs.resize((values_ + 1) * classes_);
  const std::vector<std::int64_t> all = closed_.take(image);
  if (all.empty()) return out;
  std::span<const std::int64_t> counts(all);
  const auto next = [&](std::size_t count) {
    const auto front = counts.first(count);
    counts = counts.subspan(count);
    return front;
  };
  const auto pairs = next(out.pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i)
    out.pairs[i] = static_cast<std::uint64_t>(pairs[i]);
  out.tumour = scores_from(next(kScoreCounts));
  out.highest = scores_from(next(kScoreCounts));
  out.squared_steps = static_cast<std::uint64_t>(counts.front());
  return out;
}

}  // namespace headrace::train
