#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "headrace/model/parameters.hpp"

namespace headrace::model {

/// The interface of a network for training.
class SegmentationNet {
 public:
  virtual ~SegmentationNet() = default;

  /// Logits (n, classes, …) for a batch; errors: usage (a shape that does not fit).
  virtual at::Tensor forward(const at::Tensor& images) const = 0;
  /// The same for training: `forward`'s logits first, then those of coarser levels, if the network
  /// has such heads; an axis has the edge of the level before, or half of it.
  virtual std::vector<at::Tensor> forward_levels(const at::Tensor& images) const {
    return {forward(images)};
  }
  virtual Parameters& parameters() noexcept = 0;
};

}  // namespace headrace::model
