#include "learn/predict/slide/tensor_scores.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include <vector>

#include "learn/inference/probability_tensor.hpp"

namespace headrace::predict {

TensorScores::TensorScores(std::size_t classes)
    : steps_(classes),
      table_(at::tensor(std::vector<std::int32_t>(steps_.table.begin(), steps_.table.end()),
                        at::kInt)) {}

at::Tensor TensorScores::of(const at::Tensor& probabilities) {
  table_ = table_.to(probabilities.device());
  const at::Tensor bytes = inference::probability_bytes(probabilities);
  at::Tensor sum;
  for (std::int64_t c = 0; c < bytes.size(1); ++c) {
    const at::Tensor own = bytes.select(1, c).to(at::kInt);
    const at::Tensor part = table_.index_select(0, own.flatten()).view(own.sizes());
    sum = c == 0 ? part : sum.add(part);
  }
  const at::Tensor steps = sum.to(at::kDouble).mul(255).add(steps_.half).mul(steps_.inverse);
  const at::Tensor entropy = steps.to(at::kInt).clamp_max(255).to(at::kByte);
  return at::cat({bytes, entropy.unsqueeze(1)}, 1);
}

}  // namespace headrace::predict
