#pragma once
#include <cstdint>
#include <vector>

#include "learn/model/parameters.hpp"

namespace headrace::model {

/// The gradients of all trained parameters as one row of floats in host memory: in the order of the
/// parameters, each in its own order of memory. They are copied from and to a GPU at once.
class FlatGradients {
 public:
  explicit FlatGradients(const Parameters& parameters);

  std::int64_t size() const noexcept { return size_; }
  /// Writes the gradients that the parameters hold, and drops them.
  void take(float* row) const;
  /// Makes these the parameters' gradients.
  void give(const float* row) const;

 private:
  std::vector<at::Tensor> views(const at::Tensor& row) const;

  std::vector<at::Tensor> parameters_;
  std::int64_t size_ = 0;
  at::Tensor on_device_;  ///< undefined on a CPU
};

}  // namespace headrace::model
