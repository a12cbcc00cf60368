#pragma once
#include <array>
#include <string>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;
struct VolumePatchSpec;
struct VolumeBlurKernel;

/// A Gaussian; sigma in output voxels.
struct VolumeBlurSpec {
  static constexpr std::string_view kName = "blur";
  static constexpr bool kOnce = false;

  std::array<double, 2> sigma{0, 0};
  double probability = 1;
  std::string channel = {};  ///< the one it is for; empty: every channel

  ValueUse value_use() const { return {}; }
  Fields fields();
  void draw(VolumeDraw& draw) const;
};

/// Weights to 4 sigma. `sigma` in output voxels, above 0.
VolumeBlurKernel volume_blur_kernel(double sigma, const VolumePatchSpec& patch, float* dst);

}  // namespace headrace::transform
