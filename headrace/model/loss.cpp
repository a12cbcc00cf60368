#include "headrace/model/loss.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/log_softmax.h>

#include <cmath>

namespace headrace::model {

LossTerms segmentation_loss(const at::Tensor& logits, const at::Tensor& labels,
                            const at::Tensor& class_weights, double dice_weight,
                            const LossKind& kind) {
  constexpr double kTiny = 1e-6;
  const std::int64_t classes = logits.size(1);
  const at::Tensor log_p = at::log_softmax(logits.to(at::kFloat), 1);
  // Classes along axis 1, summed over every other axis.
  std::vector<std::int64_t> by_class(static_cast<std::size_t>(logits.dim()), 1), others;
  by_class[1] = classes;
  for (std::int64_t axis = 0; axis < logits.dim(); ++axis) {
    if (axis != 1) others.push_back(axis);
  }
  const at::Tensor ids = at::arange(classes, labels.options()).view(by_class);
  const at::Tensor truth = labels.unsqueeze(1).eq(ids).to(at::kFloat);
  const at::Tensor annotated = truth.sum(1, /*keepdim=*/true);
  const at::Tensor weights = class_weights.view(by_class);

  LossTerms loss;
  loss.cross_entropy = -(truth * log_p * weights).sum() / (truth * weights).sum().clamp_min(kTiny);

  const at::Tensor p = log_p.exp() * annotated;
  const at::Tensor overlap = (p * truth).sum(others);
  const at::Tensor truth_sum = truth.sum(others);
  const at::Tensor present = truth_sum.gt(0).to(at::kFloat);
  const at::Tensor p_sum = p.sum(others), classes_present = present.sum();
  const auto mean_index = [&](const LossKind& of) {
    return (region_index(overlap, p_sum, truth_sum, of) * present).sum() /
               classes_present.clamp_min(1) +
           classes_present.eq(0).to(at::kFloat);
  };
  loss.dice = mean_index({});
  const bool entropy = kind.pixel == LossKind::Pixel::cross_entropy;
  const at::Tensor pixel = entropy
                               ? loss.cross_entropy
                               : pixel_term((truth * log_p).sum(1), (truth * weights).sum(1), kind);
  const bool dice = kind.region == LossKind::Region::dice;
  loss.total = pixel + dice_weight * (1 - (dice ? loss.dice : mean_index(kind)));
  return loss;
}

LossTerms deep_supervision_loss(const std::vector<at::Tensor>& levels, const at::Tensor& labels,
                                const at::Tensor& class_weights, double dice_weight,
                                const LossKind& kind) {
  LossTerms out = segmentation_loss(levels.front(), labels, class_weights, dice_weight, kind);
  // 1 + 1/2 + … + 2^-(n-1) = 2 - 2^-(n-1)
  const double sum = 2 - std::ldexp(1.0, 1 - static_cast<int>(levels.size()));
  out.total = out.total / sum;
  at::Tensor coarse = labels;
  for (std::size_t l = 1; l < levels.size(); ++l) {
    for (std::int64_t axis = 1; axis < coarse.dim(); ++axis) {
      const std::int64_t step = coarse.size(axis) / levels[l].size(axis + 1);  // 1 or 2
      coarse = coarse.slice(axis, step / 2, {}, step);
    }
    const LossTerms terms = segmentation_loss(levels[l], coarse, class_weights, dice_weight, kind);
    out.total = out.total + terms.total * (std::ldexp(1.0, -static_cast<int>(l)) / sum);
  }
  return out;
}

}  // namespace headrace::model
