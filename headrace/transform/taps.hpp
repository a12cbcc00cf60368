#pragma once
#include <cstdint>

#include "headrace/math/bspline.hpp"
#include "headrace/math/hd.hpp"
#include "headrace/math/lane.hpp"

/// Where taps lie: what the kernels of patches in two and in three dimensions share.
namespace headrace::transform {

/// Affine part of the tap coordinate along a row.
template <typename F>
HR_HD F along_row(float per_column, float row_part, F column) {
  return column * per_column + row_part;
}

/// Four lines of control values of an elastic deformation, combined at a place: value `index` of
/// each line and, in a pack, those after it (those after the last have no meaning, but must be
/// readable). `lines`: grid + 3 lines of `length` values.
template <typename F>
HR_HD F combine_lines(std::int32_t grid, const float* lines, std::int32_t length,
                      math::SplinePlace place, std::int32_t index) {
  const math::SplineWeights<float> w = math::spline_weights(place.t);
  F sum = math::Memory<F>::splat(0.0f);
  for (int tap = 0; tap < 4; ++tap) {
    const std::int32_t line = math::spline_control(place.cell, tap, grid) * length;
    sum = sum + math::Memory<F>::load(lines + (line + index)) * w.w[tap];
  }
  return sum;
}

/// A row's displacement in one cell, from the row's grid + 3 control values.
HR_HD math::SplineCell<float> row_cell(std::int32_t grid, const float* row_controls,
                                       std::int32_t cell) {
  return math::spline_cell(row_controls[math::spline_control(cell, 0, grid)],
                           row_controls[math::spline_control(cell, 1, grid)],
                           row_controls[math::spline_control(cell, 2, grid)],
                           row_controls[math::spline_control(cell, 3, grid)]);
}

/// Index of the pixel that replaces `i` outside [0, count): mirrored about the outermost centres.
HR_HD std::int32_t mirrored(std::int32_t i, std::int32_t count) {
  if (count == 1) return 0;
  const std::int32_t period = 2 * (count - 1);
  std::int32_t j = i % period;
  if (j < 0) j += period;
  return j < count ? j : period - j;
}

}  // namespace headrace::transform
