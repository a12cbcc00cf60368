#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "learn/model/parameters.hpp"

namespace headrace::model {

/// What an optimiser keeps between steps, for checkpoints.
struct OptimiserState {
  std::vector<NamedTensor> tensors;  ///< float32; they share memory
  std::string facts;                 ///< the rest, as text; empty: none
};

/// Changes a model's trained parameters by their gradients. One thread.
class Optimiser {
 public:
  virtual ~Optimiser() = default;
  std::int64_t steps() const noexcept { return steps_; }
  /// One step from the gradients that the parameters hold; drops them afterwards.
  virtual void step(double learning_rate) = 0;
  virtual OptimiserState state() const = 0;
  /// Continues from what `state` of an equal model returned after `steps` steps. Errors: corrupt (a
  /// state of another network).
  virtual void restore(const OptimiserState& state, std::int64_t steps) = 0;

 protected:
  std::int64_t steps_ = 0;  ///< taken; both functions above keep it
};

}  // namespace headrace::model
