#include "learn/model/loss_terms.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/topk.h>

#include <cstdint>
#include <tuple>

namespace headrace::model {
namespace {

constexpr double kTiny = 1e-6;

/// How much of each pixel's loss counts: 1 above the k-th largest, a share at it, else 0. Made of
/// values alone, without indices into them: their backward pass has no fixed order on a GPU.
at::Tensor top_part(const at::Tensor& losses, const at::Tensor& counted, double percent) {
  const at::NoGradGuard no_grad;
  const at::Tensor part = counted.sum().to(at::kDouble) * percent;
  // Divided by a tensor: a GPU multiplies by the inverse of a number, which may give one less.
  const at::Tensor most = part.div(at::full_like(part, 100)).to(at::kLong).clamp_min(1);
  const at::Tensor values = losses.masked_fill(counted.logical_not(), -1.0);  // below every loss
  const at::Tensor least = kth_largest(values.flatten(), most, /*reads_k=*/values.is_cpu());
  // Where none counts, the least is below every loss too, and nothing may.
  const at::Tensor above = values.gt(least), at_least = values.eq(least).logical_and(counted);
  const at::Tensor share =
      (most - above.sum()).to(at::kDouble) / at_least.sum().clamp_min(1).to(at::kDouble);
  return (above.to(at::kDouble) + at_least.to(at::kDouble) * share).to(at::kFloat);
}

}  // namespace

at::Tensor kth_largest(const at::Tensor& values, const at::Tensor& k, bool reads_k) {
  if (reads_k) return std::get<0>(at::topk(values, k.item<std::int64_t>())).min();
  const at::Tensor sorted = std::get<0>(at::sort(values, /*dim=*/0, /*descending=*/true));
  return sorted.index_select(0, (k - 1).view({1})).squeeze(0);
}

at::Tensor pixel_term(const at::Tensor& log_p, const at::Tensor& weight, const LossKind& kind) {
  at::Tensor losses = -(weight * log_p);
  at::Tensor weights = weight;
  if (kind.pixel == LossKind::Pixel::focal) {
    // Of several classes together log p is a sum, which rounding may leave above 0: no power of
    // what is negative.
    losses = losses * (-log_p.expm1()).clamp_min(0).pow(kind.gamma);
  }
  if (kind.pixel == LossKind::Pixel::top_k) {
    const at::Tensor part = top_part(losses.detach(), weight.gt(0), kind.k_percent);
    losses = losses * part;
    weights = weights * part;
  }
  return losses.sum() / weights.sum().clamp_min(kTiny);
}

at::Tensor region_index(const at::Tensor& overlap, const at::Tensor& p_sum,
                        const at::Tensor& truth_sum, const LossKind& kind) {
  if (kind.region == LossKind::Region::dice) {
    return 2 * overlap / (p_sum + truth_sum).clamp_min(kTiny);
  }
  const at::Tensor missed = truth_sum - overlap, invented = p_sum - overlap;
  return overlap / (overlap + kind.alpha * invented + kind.beta * missed).clamp_min(kTiny);
}

}  // namespace headrace::model
