#pragma once
#include <array>
#include <string_view>

#include "headrace/core/fields.hpp"

namespace headrace::transform {

struct SlideDraw;

/// Normal deviates times sigma on each channel; full range is 1.
struct GaussianNoiseSpec {
  static constexpr std::string_view kName = "gaussian_noise";
  static constexpr bool kOnce = true, kGeometry = false;

  std::array<double, 2> sigma{0, 0};
  double probability = 1;

  Fields fields();
  void draw(SlideDraw& draw) const;
};

}  // namespace headrace::transform
