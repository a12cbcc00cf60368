#include "learn/inference/tensor_math.hpp"

#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

namespace headrace::inference {

at::Tensor classes_of(const at::Tensor& probabilities) {
  const std::int64_t classes = probabilities.size(1);
  at::Tensor highest = probabilities.select(1, 0);
  at::Tensor out = at::zeros(highest.sizes(), highest.options().dtype(at::kByte));
  for (std::int64_t c = 1; c < classes; ++c) {
    const at::Tensor own = probabilities.select(1, c);
    highest = at::where(own.gt(highest), own, highest);
  }
  for (std::int64_t c = classes; c-- > 0;)  // so that of equals the lower class stays
    out.masked_fill_(probabilities.select(1, c).eq(highest), c);
  return out;
}

at::Tensor sum_of(const at::Tensor& probabilities, std::span<const std::uint8_t> classes) {
  at::Tensor sum = at::zeros_like(probabilities.select(1, 0));
  for (const std::uint8_t c : classes) sum = sum.add(probabilities.select(1, c));
  return sum;
}

at::Tensor rounded(const at::Tensor& value) {
  const at::Tensor whole = value.floor();
  return whole.add(value.sub(whole).ge(0.5));
}

at::Tensor in_steps(const at::Tensor& probability, std::int64_t steps) {
  const at::Tensor inside = at::where(probability.gt(0), probability.clamp_max(1), 0.0f);
  return rounded(inside.mul(steps)).to(at::kInt);
}

at::Tensor two_rows(const at::Tensor& scores) {
  return at::stack({scores.bitwise_and(255), scores.bitwise_right_shift(8)}, 1).to(at::kByte);
}

}  // namespace headrace::inference
