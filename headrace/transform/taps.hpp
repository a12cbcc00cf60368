#pragma once
#include <cstdint>

#include "headrace/math/bspline.hpp"
#include "headrace/math/hd.hpp"
#include "headrace/math/lane.hpp"

/// Where taps lie and how they are summed: what the kernels of patches in two and in three
/// dimensions share.
namespace headrace::transform {

/// Affine part of the tap coordinate along a row.
template <typename F>
HR_HD F along_row(float per_column, float row_part, F column) {
  return column * per_column + row_part;
}

/// Sum of value(tap) · weights[tap], tap after tap. Four to a turn: where a pack is wider than a
/// register, compilers keep the sum in memory from turn to turn.
template <typename F, typename Value>
HR_HD F weighted_sum(const float* weights, std::int32_t taps, const Value& value) {
  const auto term = [&](std::int32_t tap) HR_LAMBDA { return value(tap) * weights[tap]; };
  F sum = math::Memory<F>::splat(0.0f);
  std::int32_t tap = 0;
  for (; tap + 4 <= taps; tap += 4) {
    sum = sum + term(tap) + term(tap + 1) + term(tap + 2) + term(tap + 3);
  }
  for (; tap < taps; ++tap) sum = sum + term(tap);
  return sum;
}

/// The four of grid + 3 control values of an elastic deformation that act on a place, combined;
/// value(i) is the i-th.
template <typename F, typename Value>
HR_HD F combine_controls(std::int32_t grid, math::SplinePlace place, const Value& value) {
  const math::SplineWeights<float> w = math::spline_weights(place.t);
  return weighted_sum<F>(w.w, 4, [&](std::int32_t tap) HR_LAMBDA {
    return value(math::spline_control(place.cell, tap, grid));
  });
}

/// The same of lines of control values: value `index` of each line and, in a pack, those after it
/// (those after the last have no meaning, but must be readable). `lines`: grid + 3 lines of
/// `length` values.
template <typename F>
HR_HD F combine_lines(std::int32_t grid, const float* lines, std::int32_t length,
                      math::SplinePlace place, std::int32_t index) {
  return combine_controls<F>(grid, place, [&](std::int32_t line) HR_LAMBDA {
    return math::Memory<F>::load(lines + (line * length + index));
  });
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

/// Value `place` of a line of `count` values that lie `step` apart, blurred along the line.
template <typename Blur>
HR_HD float blurred(const Blur& k, const float* line, std::int32_t step, std::int32_t count,
                    std::int32_t place) {
  return weighted_sum<float>(k.weights, 2 * k.radius + 1, [&](std::int32_t tap) HR_LAMBDA {
    return line[mirrored(place + tap - k.radius, count) * step];
  });
}

}  // namespace headrace::transform
