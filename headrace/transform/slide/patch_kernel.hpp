#pragma once
#include <cstdint>
#include <type_traits>

#include "headrace/math/bspline.hpp"
#include "headrace/transform/noise_kernel.hpp"
#include "headrace/transform/slide/colour_program.hpp"
#include "headrace/transform/taps.hpp"

namespace headrace::transform {

/// Output pixel (row, column) → tap coordinates in the window: affine plus elastic displacement, in
/// float32 relative to the window (the composition is done in double on the host; level coordinates
/// do not fit float32).
struct Placement {
  float y_row, y_column, y_offset;  ///< y = y_column·column + (y_row·row + y_offset)
  float x_row, x_column, x_offset;
  std::int32_t grid;  ///< cells along each axis; 0: no elastic deformation
  float grid_y_scale, grid_y_offset, grid_x_scale,
      grid_x_offset;       ///< row, column → grid coordinate
  const float* control_y;  ///< (grid + 3, grid + 3), window pixels
  const float* control_x;
};

HR_HD math::SplinePlace row_place(const Placement& p, std::int32_t row) {
  return math::spline_place(math::to_float(row) * p.grid_y_scale + p.grid_y_offset, p.grid);
}
HR_HD math::SplinePlace column_place(const Placement& p, std::int32_t column) {
  return math::spline_place(math::to_float(column) * p.grid_x_scale + p.grid_x_offset, p.grid);
}

/// All inputs of one image pass; trivially copyable.
struct PatchKernel {
  Placement placement;
  math::PixelWindow window;
  bool whole;  ///< the level has every pixel of the window
  ColourProgram program;
  bool noise;
  NoiseStream stream;
  std::int32_t height, width;
  float* dst;  ///< (3, height, width)
};

/// A later pass over the output of an earlier one.
struct RecolourKernel {
  ColourProgram program;
  bool noise;
  NoiseStream stream;
  std::int32_t height, width;
  float* dst;
};

struct LabelKernel {
  Placement placement;
  math::PixelWindow window;
  std::int32_t outside;
  std::int32_t height, width;
  std::uint8_t* dst;
};

/// One separable Gaussian over the planes of dst, borders mirrored about the outermost pixel
/// centres.
struct BlurKernel {
  static constexpr int kMaxRadius = 80;
  std::int32_t radius;
  float weights[2 * kMaxRadius + 1];
  std::int32_t height, width;
  float* dst;
};

static_assert(std::is_trivially_copyable_v<PatchKernel> &&
              std::is_trivially_copyable_v<RecolourKernel> &&
              std::is_trivially_copyable_v<LabelKernel> &&
              std::is_trivially_copyable_v<BlurKernel>);

}  // namespace headrace::transform
