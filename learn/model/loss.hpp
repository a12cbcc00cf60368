#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "learn/model/loss_terms.hpp"

namespace headrace::model {

/// Classes that label values C, C + 1, … stand for, each two or more of the C classes.
using ClassSets = std::vector<std::vector<std::int64_t>>;

struct LossTerms {
  /// The trained loss: pixel term + dice_weight · (1 - region term), by default with cross_entropy
  /// and dice.
  at::Tensor total;
  // Measured whatever loss is trained, so that trainings can be compared.
  at::Tensor cross_entropy;  ///< mean over annotated pixels, each weighted by its class
  at::Tensor dice;           ///< soft Dice, mean over the classes and sets that the truth has
};

/// Cross-entropy plus soft Dice, or the terms of `kind` (loss_terms.hpp), over the annotated pixels
/// or voxels.
///
/// in      logits         (n, classes, …), any number of axes
///         labels         (n, …) uint8: classes, then `sets`; others are ignored (255: not
///                        annotated)
///         class_weights  (classes) float, of the cross-entropy; a set weighs the mean of its own
/// NaN     never: a batch without annotated pixels has cross-entropy 0 and Dice 1
/// Written with sums over one-hot planes: gather and nll_loss2d have no deterministic backward pass
/// on a GPU.
///
/// A pixel whose label is a set S is known to be one of its classes, not which one: its
/// cross-entropy is that of the marginal probability, -log Σ_{c ∈ S} p_c (by logsumexp). Soft Dice
/// is marginal as well: for a class it runs over the pixels whose label decides about it (the plain
/// ones and those of sets without it), and each set that the labels have is one more region, with Σ
/// p_c for a probability, over the pixels whose label lies in it or beside it. So the loss never
/// depends on how probability is distributed inside a pixel's set: it is a label-set loss as Fidon
/// et al. define it. Without sets among the labels the result is the plain one, bit for bit.
/// source  Shi et al., Marginal loss and exclusion loss for partially supervised multi-organ
///         segmentation, Medical Image Analysis 70, 2021; Fidon et al., Label-set loss functions
///         for partial supervision, MICCAI 2021 (arXiv 2107.03846). Their leaf-Dice is not taken:
///         it counts probability of a set's own classes against them.
LossTerms segmentation_loss(const at::Tensor& logits, const at::Tensor& labels,
                            const at::Tensor& class_weights, double dice_weight,
                            const ClassSets& sets = {}, const LossKind& kind = {});

/// A loss of one level: one number, of its logits (n, classes, …) and labels (n, …).
using LevelLoss = std::function<at::Tensor(const at::Tensor& logits, const at::Tensor& labels)>;

/// Deep supervision: the loss of every level, level l weighted 2^-l, the weights adding up to 1.
/// `one` is called for each, the first level first.
///
/// in      levels  logits; an axis has the edge of the level before, or half of it
///         labels  (n, …) at the first level's size; a coarser voxel's label is that of the fine
///                 voxel at its middle (the upper one of two along an axis that was halved), so
///                 nothing is mixed
/// source  Dou et al., 3D deeply supervised network, Medical Image Analysis 41, 2017; weights as
///         nnU-Net's
at::Tensor loss_over_levels(const std::vector<at::Tensor>& levels, const at::Tensor& labels,
                            const LevelLoss& one);

/// segmentation_loss over levels: total is the weighted sum; cross_entropy and dice are those of
/// the first level.
LossTerms deep_supervision_loss(const std::vector<at::Tensor>& levels, const at::Tensor& labels,
                                const at::Tensor& class_weights, double dice_weight,
                                const ClassSets& sets = {}, const LossKind& kind = {});

}  // namespace headrace::model
