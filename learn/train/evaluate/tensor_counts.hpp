#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "learn/measure/base/calibration.hpp"

namespace headrace::train {

/// What tallies of slides and of volumes share: counting by LibTorch's tensors on any of its
/// devices, of which nothing comes to the host before a whole image is counted.

/// How often each of 0 … bins - 1 occurs, int64; others are left out.
at::Tensor counts_of(const at::Tensor& codes, std::int64_t bins);

/// By label value; labels: (…) int32.
at::Tensor looked_up(const at::Tensor& table, const at::Tensor& labels);

/// Of measure::ScoreCounts: how often each score is negative and positive.
inline constexpr std::int64_t kScoreCounts = 2 * (measure::kScoreSteps + 1);
/// (kScoreCounts) of the pixels where `counted` is true; score: int32.
at::Tensor counts_of_scores(const at::Tensor& score, const at::Tensor& positive,
                            const at::Tensor& counted);
/// Of such counts on the host.
measure::ScoreCounts scores_from(std::span<const std::int64_t> counts);

/// Zeros (size) int64.
at::Tensor no_counts(std::int64_t size, at::Device device);

/// measure::Calibration::add_classes of many pixels at once: its operations in its order.
class TensorCalibration {
 public:
  /// Numbers of `counts`: those of scores, and the sum of squared errors in steps.
  static constexpr std::int64_t kCounts = kScoreCounts + 1;

  TensorCalibration(std::size_t classes, const std::vector<ClassSet>& sets);

  /// Begins at 0, on this device.
  void start(at::Device device);
  /// probabilities: (parts, classes, pixels) float32; predicted: (parts, pixels), the class of the
  /// highest; labels: (parts, pixels) int32; counted: (parts, pixels) bool
  void add(const at::Tensor& probabilities, const at::Tensor& predicted, const at::Tensor& labels,
           const at::Tensor& counted);
  /// (kCounts) int64, for Calibration::add_counted.
  at::Tensor counts() const;

 private:
  std::int64_t classes_;
  at::Tensor allowed_;  ///< (classes, 256): whether the class may be true, by label
  at::Tensor highest_, squared_;
};

}  // namespace headrace::train
