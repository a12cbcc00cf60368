#include "learn/train/evaluate/tensor_counts.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <tuple>
#include <utility>

#include "learn/inference/tensor_math.hpp"

namespace headrace::train {

/// By sorting: counting of LibTorch's own makes the host wait for the largest value, and adding up
/// by index is refused where algorithms are to be deterministic.
at::Tensor counts_of(const at::Tensor& codes, std::int64_t bins) {
  const at::Tensor sorted = std::get<0>(at::sort(codes.flatten()));
  const at::Tensor edges = at::arange(bins + 1, codes.options());
  const at::Tensor below = at::searchsorted(sorted, edges);
  return below.narrow(0, 1, bins).sub(below.narrow(0, 0, bins));
}

at::Tensor looked_up(const at::Tensor& table, const at::Tensor& labels) {
  return table.index_select(0, labels.flatten()).view(labels.sizes());
}

at::Tensor counts_of_scores(const at::Tensor& score, const at::Tensor& positive,
                            const at::Tensor& counted) {
  return counts_of(at::where(counted, score.mul(2).add(positive), -1), kScoreCounts);
}

measure::ScoreCounts scores_from(std::span<const std::int64_t> counts) {
  std::vector<measure::ScoreCounts::Row> rows;
  for (std::size_t s = 0; 2 * s < counts.size(); ++s) {
    const auto negative = static_cast<std::uint64_t>(counts[2 * s]);
    const auto positive = static_cast<std::uint64_t>(counts[2 * s + 1]);
    if (negative + positive > 0)
      rows.push_back({static_cast<std::uint16_t>(s), negative, positive});
  }
  return measure::ScoreCounts(std::move(rows));
}

at::Tensor no_counts(std::int64_t size, at::Device device) {
  return at::zeros({size}, at::TensorOptions(at::kLong).device(device));
}

TensorCalibration::TensorCalibration(std::size_t classes, const std::vector<ClassSet>& sets)
    : classes_(static_cast<std::int64_t>(classes)) {
  const auto allowed = classes_by_value(classes, sets);
  std::vector<std::uint8_t> table;
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t label = 0; label < 256; ++label) table.push_back(allowed[label].test(c));
  }
  allowed_ = at::tensor(table, at::kByte).view({classes_, 256}).to(at::kBool);
}

void TensorCalibration::start(at::Device device) {
  allowed_ = allowed_.to(device);
  highest_ = no_counts(kScoreCounts, device);
  squared_ = no_counts(1, device);
}

void TensorCalibration::add(const at::Tensor& probabilities, const at::Tensor& predicted,
                            const at::Tensor& labels, const at::Tensor& counted) {
  at::Tensor sum, of_truth, squares, best, positive;
  for (std::int64_t c = 0; c < classes_; ++c) {
    const at::Tensor p = probabilities.select(1, c).to(at::kDouble);
    const at::Tensor may = looked_up(allowed_.select(0, c), labels);
    const at::Tensor is = predicted.eq(c);
    const at::Tensor true_p = at::where(may, p, 0.0), error = at::where(may, 0.0, p.mul(p));
    sum = c == 0 ? p : sum.add(p);
    of_truth = c == 0 ? true_p : of_truth.add(true_p);
    squares = c == 0 ? error : squares.add(error);
    best = c == 0 ? p : at::where(is, p, best);
    positive = c == 0 ? is.logical_and(may) : positive.logical_or(is.logical_and(may));
  }
  const at::Tensor missing = sum.sub(of_truth);
  const at::Tensor squared = squares.add(missing.mul(missing)).div(sum.mul(sum));
  const at::Tensor steps = inference::rounded(squared.mul(measure::Calibration::kSquareSteps));
  squared_.add_(at::where(counted, steps, 0.0).to(at::kLong).sum());
  const at::Tensor score = inference::in_steps(best.div(sum).to(at::kFloat), measure::kScoreSteps);
  highest_.add_(counts_of_scores(score, positive, counted));
}

at::Tensor TensorCalibration::counts() const { return at::cat({highest_, squared_}); }

}  // namespace headrace::train
