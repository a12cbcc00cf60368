#pragma once
#include <array>
#include <string_view>

#include "headrace/core/fields.hpp"

namespace headrace::transform {

struct SlideDraw;
struct PatchSpec;
struct BlurKernel;

/// A Gaussian; sigma in output pixels.
struct BlurSpec {
  static constexpr std::string_view kName = "blur";
  static constexpr bool kOnce = true, kGeometry = false;

  std::array<double, 2> sigma{0, 0};
  double probability = 1;

  Fields fields();
  void draw(SlideDraw& draw) const;
};

/// Weights to 4 sigma. `sigma` in output pixels, above 0.
BlurKernel blur_kernel(double sigma, const PatchSpec& patch, float* dst);

}  // namespace headrace::transform
