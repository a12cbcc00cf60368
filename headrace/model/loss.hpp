#pragma once
#include <ATen/core/Tensor.h>

namespace headrace::model {

struct LossTerms {
  at::Tensor total;          ///< cross_entropy + dice_weight · (1 - dice)
  at::Tensor cross_entropy;  ///< mean over annotated pixels, each weighted by its class
  at::Tensor dice;           ///< soft Dice, mean over the classes that the batch's truth has
};

/// Cross-entropy plus soft Dice over the pixels that are annotated.
///
/// in      logits         (n, classes, height, width)
///         labels         (n, height, width) uint8; values ≥ classes are ignored (255: not
///         annotated) class_weights  (classes) float, of the cross-entropy
/// NaN     never: a batch without annotated pixels has cross-entropy 0 and Dice 1
/// Written with sums over one-hot planes: gather and nll_loss2d have no deterministic backward pass
/// on a GPU.
LossTerms segmentation_loss(const at::Tensor& logits, const at::Tensor& labels,
                            const at::Tensor& class_weights, double dice_weight);

}  // namespace headrace::model
