#pragma once
#include <cstddef>
#include <vector>

#include "headrace/math/exponential.hpp"

namespace headrace::transform {

/// Weights of a sampled Gaussian at -radius … radius, their sum 1. sigma > 0, in samples.
inline std::vector<double> gaussian_weights(double sigma, int radius) {
  std::vector<double> weights(static_cast<std::size_t>(2 * radius + 1));
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    sum += weights[static_cast<std::size_t>(i + radius)] =
        math::exp_of(-0.5 * i * i / (sigma * sigma));
  }
  for (double& weight : weights) weight = weight / sum;
  return weights;
}

}  // namespace headrace::transform
