#include "learn/predict/volume/tensor_voxels.hpp"

#include <ATen/ops/cat.h>

#include "learn/inference/probability_tensor.hpp"
#include "learn/inference/tensor_math.hpp"
#include "learn/measure/base/score.hpp"

namespace headrace::predict {

at::Tensor tensor_voxels(const at::Tensor& probabilities,
                         std::span<const std::uint8_t> lesion_classes) {
  const at::Tensor bytes = inference::probability_bytes(probabilities);
  if (lesion_classes.empty()) return bytes;
  const at::Tensor sum = inference::sum_of(probabilities, lesion_classes);
  return at::cat({bytes, inference::two_rows(inference::in_steps(sum, measure::kScoreSteps))}, 1);
}

}  // namespace headrace::predict
