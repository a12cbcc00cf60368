#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "learn/model/optimiser.hpp"
#include "learn/model/parameters.hpp"

namespace headrace::model {

/// AdamW with decoupled weight decay, for the trained parameters; scales, offsets and biases
/// (one-dimensional) are not decayed.
///
/// source  Loshchilov and Hutter, Decoupled weight decay regularization, ICLR 2019, algorithm 2;
///         beta 0.9 and 0.999, epsilon 1e-8, LibTorch's fused kernel
class AdamW : public Optimiser {
 public:
  AdamW(const Parameters& parameters, double weight_decay);

  void step(double learning_rate) override;
  /// Moments by name: "first.<parameter>", "second.<parameter>".
  OptimiserState state() const override;
  void restore(const OptimiserState& state, std::int64_t steps) override;

 private:
  std::vector<NamedTensor> moments() const;

  struct Group {
    double weight_decay = 0;
    std::vector<at::Tensor> values, first, second;
    std::vector<at::Tensor> counts;  ///< of steps: for each the same tensor
    std::vector<std::string> names;
  };
  std::vector<Group> groups_;
  at::Tensor count_;  ///< of steps, where the parameters are
};

/// Multiplies all gradients of trained parameters by `factor`, rounded to float32 first.
void scale_gradients(const Parameters& parameters, float factor);

/// Scales all gradients of trained parameters so that their norm is at most `limit` (0: unchanged).
/// Returns the norm before, one number where the gradients are; the host waits for nothing.
at::Tensor clip_gradients(const Parameters& parameters, double limit);

}  // namespace headrace::model
