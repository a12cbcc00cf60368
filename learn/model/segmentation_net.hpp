#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "learn/model/parameters.hpp"

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
  /// Called before the training of part `part` of a step: what a network draws at random there
  /// (dropout) follows from both alone, so that a run can be resumed and spread over processes.
  virtual void seed_part(std::int64_t step, std::int64_t part) {
    static_cast<void>(step);
    static_cast<void>(part);
  }
  virtual Parameters& parameters() noexcept = 0;
};

}  // namespace headrace::model
