#include "learn/model/weight_average.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace headrace::model {

void copy_parameters(const Parameters& from, Parameters& to) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < to.all().size(); ++i) {
    at::Tensor target = to.all()[i].tensor;
    target.copy_(from.all()[i].tensor);
  }
}

void average_weights(const Parameters& weights, Parameters& average, double decay,
                     std::int64_t steps) {
  const at::NoGradGuard no_grad;
  const auto done = static_cast<double>(steps);
  const double part = 1 - std::min(decay, (1 + done) / (10 + done));
  for (std::size_t i = 0; i < average.all().size(); ++i) {
    at::Tensor target = average.all()[i].tensor;
    target.lerp_(weights.all()[i].tensor, part);
  }
  // A running mean is an average already.
  const auto states = weights.states(), targets = average.states();
  for (std::size_t i = 0; i < states.size(); ++i) {
    at::Tensor target = targets[i].tensor;
    target.copy_(states[i].tensor);
  }
}

}  // namespace headrace::model
