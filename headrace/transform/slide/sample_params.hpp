#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/transform/drawn_entry.hpp"
#include "headrace/transform/noise_kernel.hpp"
#include "headrace/transform/slide/colour_program.hpp"

namespace headrace::transform {

/// Control values of one elastic deformation: (grid + 3, grid + 3) each, row-major, micrometres.
/// Cell (i, j) of the patch takes rows i … i + 3 and columns j … j + 3. No grid: no deformation.
struct ElasticField {
  int grid = 0;
  std::vector<double> y_um, x_um;
};

struct SampleParams {
  /// Offset from the patch's centre in output pixels of context 1 → offset from the sample's
  /// centre, same unit, elastic part aside. In micrometres both are times mpp.
  Affine2 inverse;
  ElasticField elastic;
  ColourProgram before_blur, after_blur;
  double blur_sigma = 0;  ///< output pixels; 0: no blur, and after_blur is empty
  NoiseStream noise{};    ///< counter2 without the context
  bool noise_before_blur = false, noise_after_blur = false;
  std::vector<DrawnEntry> drawn;
};

}  // namespace headrace::transform
