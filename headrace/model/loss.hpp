#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "headrace/model/loss_terms.hpp"

namespace headrace::model {

struct LossTerms {
  /// What is trained: pixel term + dice_weight · (1 - region term), cross_entropy and dice if
  /// `kind` does not say otherwise.
  at::Tensor total;
  // Measured whatever is trained, so that trainings can be compared.
  at::Tensor cross_entropy;  ///< mean over annotated pixels, each weighted by its class
  at::Tensor dice;           ///< soft Dice, mean over the classes that the batch's truth has
};

/// Cross-entropy plus soft Dice, or what `kind` has in their place (loss_terms.hpp), over the
/// pixels or voxels that are annotated.
///
/// in      logits         (n, classes, …), any number of axes
///         labels         (n, …) uint8; values ≥ classes are ignored (255: not annotated)
///         class_weights  (classes) float, of the cross-entropy
/// NaN     never: a batch without annotated pixels has cross-entropy 0 and Dice 1
/// Written with sums over one-hot planes: gather and nll_loss2d have no deterministic backward pass
/// on a GPU.
LossTerms segmentation_loss(const at::Tensor& logits, const at::Tensor& labels,
                            const at::Tensor& class_weights, double dice_weight,
                            const LossKind& kind = {});

/// Deep supervision: the loss of every level, level l weighted 2^-l, the weights adding up to 1.
///
/// in      levels  logits; an axis has the edge of the level before, or half of it
///         labels  (n, …) at the first level's size; a coarser voxel's label is that of the fine
///                 voxel at its middle (the upper one of two along an axis that was halved), so
///                 nothing is mixed
/// out     total is the weighted sum; cross_entropy and dice are those of the first level
/// source  Dou et al., 3D deeply supervised network, Medical Image Analysis 41, 2017; weights as
///         nnU-Net's
LossTerms deep_supervision_loss(const std::vector<at::Tensor>& levels, const at::Tensor& labels,
                                const at::Tensor& class_weights, double dice_weight,
                                const LossKind& kind = {});

}  // namespace headrace::model
