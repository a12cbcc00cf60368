#pragma once
#include <ATen/core/Tensor.h>

#include "learn/predict/slide/pixel_scores.hpp"

namespace headrace::predict {

/// PixelScores where the probabilities are, on any of LibTorch's devices: the same bytes, and the host
/// waits for nothing. One thread.
class TensorScores {
 public:
  explicit TensorScores(std::size_t classes);

  /// in   probabilities (parts, classes, pixels) float32
  /// out  (parts, classes + 1, pixels) uint8: the rounded probabilities and last the entropy
  at::Tensor of(const at::Tensor& probabilities);

 private:
  EntropySteps steps_;
  at::Tensor table_;  ///< (256) int32
};

}  // namespace headrace::predict
