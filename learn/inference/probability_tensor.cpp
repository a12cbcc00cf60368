#include "learn/inference/probability_tensor.hpp"

#include <ATen/ops/where.h>

namespace headrace::inference {

at::Tensor probability_bytes(const at::Tensor& probabilities) {
  const at::Tensor above = at::where(probabilities.gt(0), probabilities, 0.0f);
  const at::Tensor inside = at::where(above.lt(1), above, 1.0f);
  return inside.mul(255).add(0.5f).to(at::kByte);
}

}  // namespace headrace::inference
