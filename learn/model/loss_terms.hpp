#pragma once
#include <ATen/core/Tensor.h>

#include "headrace/core/loss_kind.hpp"

namespace headrace::model {

/// The term of single pixels, a weighted mean over those that are annotated:
///   cross_entropy  Σ w · (-log p) / Σ w
///   focal          Σ w · (1 - p)^gamma · (-log p) / Σ w
///   top_k          the same sums as cross-entropy's, over the k % of pixels with the largest
///                  w · (-log p); at least one. Pixels that equal the least of them share the rest
///                  of the k %.
/// in      log_p   (n, …) float: of the class that the pixel has, at most 0 (what rounding leaves
///                 above counts as sure); 0 where not annotated
///         weight  (n, …) float, w: of that class; 0 where not annotated
/// NaN     never: without annotated pixels the term is 0
/// source  focal: Lin et al., Focal loss for dense object detection, ICCV 2017, eq. 5, with the
///         weights of classes as alpha; top_k: Wu, Shen and van den Hengel, Bridging category-level
///         and instance-level semantic image segmentation, arXiv:1605.06885, section 3.2, by a part
///         of the batch's pixels as nnU-Net's TopKLoss
at::Tensor pixel_term(const at::Tensor& log_p, const at::Tensor& weight, const LossKind& kind);

/// The k-th largest of `values` (n), k one int64 in 1…n where they are. `reads_k`: the host reads it,
/// which on a GPU would wait for all that was put there before; else all are sorted.
at::Tensor kth_largest(const at::Tensor& values, const at::Tensor& k, bool reads_k);

/// By class, the values whose mean is the term of regions; 1 is perfect:
///   dice     2 TP / (2 TP + FP + FN)
///   tversky  TP / (TP + alpha · FP + beta · FN); with both 0.5 it is Dice
/// in      overlap, p_sum, truth_sum  (classes) float: sums over annotated pixels of p · truth, p
///                                    and truth; TP = overlap, FP = p_sum - TP, FN = truth_sum - TP
/// source  Salehi, Erdogmus and Gholipour, Tversky loss function for image segmentation using 3D
///         fully convolutional deep networks, MLMI 2017
at::Tensor region_index(const at::Tensor& overlap, const at::Tensor& p_sum,
                        const at::Tensor& truth_sum, const LossKind& kind);

}  // namespace headrace::model
