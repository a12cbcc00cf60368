#pragma once
#include <cstdint>

#include "learn/model/parameters.hpp"

namespace headrace::model {

/// Copies every tensor of `from` to the one of the same place in `to`: two of the same model.
void copy_parameters(const Parameters& from, Parameters& to);

/// One step of the exponential moving average of weights, element by element in float32:
///   average += (1 - d) · (weight - average),  d = min(decay, (1 + steps) / (10 + steps))
///
/// in      steps  training steps done, this one included. The second term of d lets a young average
///         forget the first weights, which have learnt nothing.
/// source  Polyak and Juditsky, Acceleration of stochastic approximation by averaging, SIAM J.
///         Control Optim. 30, 1992; d as in TensorFlow's ExponentialMovingAverage (num_updates)
void average_weights(const Parameters& weights, Parameters& average, double decay,
                     std::int64_t steps);

}  // namespace headrace::model
