#include "headrace/model/loss_terms.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/where.h>

#include <algorithm>

namespace headrace::model {
namespace {

constexpr double kTiny = 1e-6;

/// How much of each pixel's loss counts: 1 above the k-th largest, a share at it, else 0. Made of
/// values alone, without indices into them: their backward pass has no fixed order on a GPU.
at::Tensor top_part(const at::Tensor& losses, const at::Tensor& counted, double percent) {
  const at::NoGradGuard no_grad;
  const auto all = counted.sum().item<std::int64_t>();
  const auto most = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(all) * percent / 100));
  if (all == 0) return counted.to(at::kFloat);
  const at::Tensor values = at::where(counted, losses, -1.0);  // below every loss
  const at::Tensor least = std::get<0>(at::topk(values.flatten(), most)).min();
  const at::Tensor above = values.gt(least), at_least = values.eq(least);
  const at::Tensor share = (most - above.sum()).to(at::kDouble) / at_least.sum().to(at::kDouble);
  return (above.to(at::kDouble) + at_least.to(at::kDouble) * share).to(at::kFloat);
}

}  // namespace

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
