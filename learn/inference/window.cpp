#include "learn/inference/window.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::inference {

std::vector<float> gaussian_window(std::int64_t size) {
  std::vector<float> weights(static_cast<std::size_t>(size), 1.0f);
  if (size == 1) return weights;
  const double middle = static_cast<double>(size - 1) / 2, sigma = static_cast<double>(size) / 8;
  for (std::int64_t i = 0; i < size; ++i) {
    const double distance = (static_cast<double>(i) - middle) / sigma;
    weights[static_cast<std::size_t>(i)] = static_cast<float>(std::exp(-0.5 * distance * distance));
  }
  return weights;
}

std::vector<float> linear_window(std::int64_t size, std::int64_t overlap) {
  std::vector<float> weights(static_cast<std::size_t>(size), 1.0f);
  if (size == 1) return weights;
  const auto ramp =
      static_cast<float>(std::clamp<std::int64_t>(overlap, 1, std::max<std::int64_t>(1, size / 2)));
  for (std::int64_t i = 0; i < size; ++i) {
    const auto from_edge = static_cast<float>(std::min(i, size - 1 - i)) + 0.5f;
    weights[static_cast<std::size_t>(i)] = std::min(1.0f, from_edge / ramp);
  }
  return weights;
}

}  // namespace headrace::inference
