#include "headrace/train/slide/slide_tally.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <vector>

#include "headrace/core/ignore_label.hpp"
#include "headrace/measure/score.hpp"
#include "headrace/model/late_reads.hpp"

namespace headrace::train {
namespace {

constexpr std::int64_t kScores = measure::kScoreSteps + 1;

/// How often each of 0 … bins - 1 occurs; others are left out. By sorting: counting of LibTorch's own
/// makes the host wait for the largest value, and adding up by index is refused where algorithms are
/// to be deterministic.
at::Tensor counts_of(const at::Tensor& codes, std::int64_t bins) {
  const at::Tensor sorted = std::get<0>(at::sort(codes.flatten()));
  const at::Tensor edges = at::arange(bins + 1, codes.options());
  const at::Tensor below = at::searchsorted(sorted, edges);
  return below.narrow(0, 1, bins).sub(below.narrow(0, 0, bins));
}

/// By label value; labels: (…) int32.
at::Tensor looked_up(const at::Tensor& table, const at::Tensor& labels) {
  return table.index_select(0, labels.flatten()).view(labels.sizes());
}

/// std::lround and llround of what is not negative: LibTorch rounds halves to even.
at::Tensor rounded(const at::Tensor& value) {
  const at::Tensor whole = value.floor();
  return whole.add(value.sub(whole).ge(0.5));
}

/// measure::score_of. probability: float32.
at::Tensor score_of(const at::Tensor& probability) {
  const at::Tensor inside = at::where(probability.gt(0), probability.clamp_max(1), 0.0f);
  return rounded(inside.mul(measure::kScoreSteps)).to(at::kInt);
}

measure::ScoreCounts scores_from(const std::int64_t* counts) {
  std::vector<measure::ScoreCounts::Row> rows;
  for (std::int64_t s = 0; s < kScores; ++s) {
    const auto negative = static_cast<std::uint64_t>(counts[2 * s]);
    const auto positive = static_cast<std::uint64_t>(counts[2 * s + 1]);
    if (negative + positive > 0)
      rows.push_back({static_cast<std::uint16_t>(s), negative, positive});
  }
  return measure::ScoreCounts(std::move(rows));
}

}  // namespace

SlideTally::SlideTally(const measure::SlideRules& rules)
    : classes_(rules.classes.size()),
      values_(classes_ + rules.class_sets.size()),
      is_tumour_(rules.tumour) {
  const auto membership = region_membership(rules.region(rules.regions() - 1), rules.class_sets);
  const auto allowed = measure::classes_by_value(classes_, rules.class_sets);
  std::vector<std::int32_t> value, tumour;
  for (std::size_t label = 0; label < 256; ++label) {
    value.push_back(static_cast<std::int32_t>(std::min(label, values_)));
    tumour.push_back(static_cast<std::int32_t>(membership[label]));
  }
  value_of_ = at::tensor(value, at::kInt);
  tumour_of_ = at::tensor(tumour, at::kInt);
  std::vector<std::uint8_t> table;
  for (std::size_t c = 0; c < classes_; ++c) {
    for (std::size_t label = 0; label < 256; ++label) table.push_back(allowed[label].test(c));
  }
  allowed_ =
      at::tensor(table, at::kByte).view({static_cast<std::int64_t>(classes_), 256}).to(at::kBool);
}

void SlideTally::start(const inference::PartTensors& parts) {
  const at::Device device = parts.means.device();
  for (at::Tensor* table : {&value_of_, &tumour_of_, &allowed_}) *table = table->to(device);
  const auto zeros = [&](std::int64_t size) {
    return at::zeros({size}, at::TensorOptions(at::kLong).device(device));
  };
  pairs_ = zeros(static_cast<std::int64_t>((values_ + 1) * classes_));
  tumour_ = zeros(2 * kScores);
  highest_ = zeros(2 * kScores);
  squared_ = zeros(1);
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
  count_scores(parts, labels, annotated);
  const at::Tensor undecided = at::where(annotated, looked_up(tumour_of_, labels),
                                         static_cast<std::int64_t>(Membership::undecided));
  count_tumour(parts, undecided);
}

/// Calibration::add_classes, in its order.
void SlideTally::count_scores(const inference::PartTensors& parts, const at::Tensor& labels,
                              const at::Tensor& annotated) {
  at::Tensor sum, of_truth, squares, best, positive;
  for (std::int64_t c = 0; c < static_cast<std::int64_t>(classes_); ++c) {
    const at::Tensor p = parts.means.select(1, c).to(at::kDouble);
    const at::Tensor may = looked_up(allowed_.select(0, c), labels);
    const at::Tensor is = parts.predicted.eq(c);
    const at::Tensor true_p = at::where(may, p, 0.0), error = at::where(may, 0.0, p.mul(p));
    sum = c == 0 ? p : sum.add(p);
    of_truth = c == 0 ? true_p : of_truth.add(true_p);
    squares = c == 0 ? error : squares.add(error);
    best = c == 0 ? p : at::where(is, p, best);
    positive = c == 0 ? is.logical_and(may) : positive.logical_or(is.logical_and(may));
  }
  const at::Tensor missing = sum.sub(of_truth);
  const at::Tensor squared = squares.add(missing.mul(missing)).div(sum.mul(sum));
  const at::Tensor steps = rounded(squared.mul(measure::Calibration::kSquareSteps));
  squared_.add_(at::where(annotated, steps, 0.0).to(at::kLong).sum());
  const at::Tensor score = score_of(best.div(sum).to(at::kFloat));
  highest_.add_(counts_of(at::where(annotated, score.mul(2).add(positive), -1), 2 * kScores));
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
  const at::Tensor score = score_of(inside.div(all));
  tumour_.add_(counts_of(at::where(decided, score.mul(2).add(positive), -1), 2 * kScores));
}

void SlideTally::close() {
  if (!image_) return;
  Closed closed{*image_, at::cat({pairs_, tumour_, highest_, squared_}), {}};
  if (!closed.counts.is_cpu()) {
    model::HostCopy copy = model::copy_to_host(closed.counts);
    closed.counts = std::move(copy.tensor);
    closed.done.emplace(std::move(copy.done));
  }
  closed_.push_back(std::move(closed));
  image_.reset();
}

measure::PixelCounts SlideTally::take(std::uint32_t image) {
  if (image_ == image) close();
  measure::PixelCounts out;
  out.pairs.resize((values_ + 1) * classes_);
  if (closed_.empty() || closed_.front().image != image) return out;
  Closed closed = std::move(closed_.front());
  closed_.pop_front();
  if (closed.done) closed.done->synchronize();
  const std::int64_t* counts = closed.counts.const_data_ptr<std::int64_t>();
  for (std::uint64_t& pair : out.pairs) pair = static_cast<std::uint64_t>(*counts++);
  out.tumour = scores_from(counts);
  out.highest = scores_from(counts + 2 * kScores);
  out.squared_steps = static_cast<std::uint64_t>(counts[4 * kScores]);
  return out;
}

}  // namespace headrace::train
