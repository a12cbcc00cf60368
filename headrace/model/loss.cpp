#include "headrace/model/loss.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/log_softmax.h>

namespace headrace::model {

LossTerms segmentation_loss(const at::Tensor& logits, const at::Tensor& labels,
                            const at::Tensor& class_weights, double dice_weight) {
  constexpr double kTiny = 1e-6;
  const std::int64_t classes = logits.size(1);
  const at::Tensor log_p = at::log_softmax(logits.to(at::kFloat), 1);
  const at::Tensor ids = at::arange(classes, labels.options()).view({1, classes, 1, 1});
  const at::Tensor truth = labels.unsqueeze(1).eq(ids).to(at::kFloat);
  const at::Tensor annotated = truth.sum(1, /*keepdim=*/true);
  const at::Tensor weights = class_weights.view({1, classes, 1, 1});

  LossTerms loss;
  loss.cross_entropy = -(truth * log_p * weights).sum() / (truth * weights).sum().clamp_min(kTiny);

  const at::Tensor p = log_p.exp() * annotated;
  const at::Tensor overlap = (p * truth).sum({0, 2, 3});
  const at::Tensor truth_sum = truth.sum({0, 2, 3});
  const at::Tensor present = truth_sum.gt(0).to(at::kFloat);
  const at::Tensor dice = 2 * overlap / (p.sum({0, 2, 3}) + truth_sum).clamp_min(kTiny);
  const at::Tensor classes_present = present.sum();
  loss.dice =
      (dice * present).sum() / classes_present.clamp_min(1) + classes_present.eq(0).to(at::kFloat);
  loss.total = loss.cross_entropy + dice_weight * (1 - loss.dice);
  return loss;
}

}  // namespace headrace::model
