#pragma once
#include <cstdint>

#include "headrace/transform/slide/patch_kernel.hpp"

namespace headrace::transform {

/// Tap coordinates of one output pixel, computed alone; equal to the row driver's, bit for bit.
struct TapCoordinates {
  float y, x;
};
HR_HD TapCoordinates taps_of(const Placement& p, std::int32_t row, std::int32_t column) {
  const float r = math::to_float(row), c = math::to_float(column);
  TapCoordinates at{along_row(p.y_column, along_row(p.y_row, p.y_offset, r), c),
                    along_row(p.x_column, along_row(p.x_row, p.x_offset, r), c)};
  if (p.grid == 0) return at;
  const math::SplinePlace py = row_place(p, row), px = column_place(p, column);
  float cy[4], cx[4];
  for (int tap = 0; tap < 4; ++tap) {
    const std::int32_t index = math::spline_control(px.cell, tap, p.grid);
    cy[tap] = combine_lines<float>(p.grid, p.control_y, p.grid + 3, py, index);
    cx[tap] = combine_lines<float>(p.grid, p.control_x, p.grid + 3, py, index);
  }
  at.y = at.y + math::spline_cell(cy[0], cy[1], cy[2], cy[3])(px.t);
  at.x = at.x + math::spline_cell(cx[0], cx[1], cx[2], cx[3])(px.t);
  return at;
}

/// The finished value of one pixel of the first pass, computed alone, as a GPU's thread does. The
/// row driver gives the same bytes.
HR_HD math::Rgb<float> patch_value(const PatchKernel& k, std::int32_t row, std::int32_t column) {
  const TapCoordinates at = taps_of(k.placement, row, column);
  const math::Rgb<float> v = k.whole ? math::bilinear_rgb<false>(k.window, at.y, at.x)
                                     : math::bilinear_rgb<true>(k.window, at.y, at.x);
  math::Rgb<float> noise{0.0f, 0.0f, 0.0f};
  if (k.noise) noise = noise_at(k.stream, row, column);
  return run(k.program, v, noise);
}

/// The value of a later pass at one pixel of the planes k.dst.
HR_HD math::Rgb<float> recoloured_value(const RecolourKernel& k, std::int32_t row,
                                        std::int32_t column) {
  const std::int64_t plane = std::int64_t{k.height} * k.width;
  const std::int64_t i = std::int64_t{row} * k.width + column;
  math::Rgb<float> noise{0.0f, 0.0f, 0.0f};
  if (k.noise) noise = noise_at(k.stream, row, column);
  return run(k.program, math::Rgb<float>{k.dst[i], k.dst[plane + i], k.dst[2 * plane + i]}, noise);
}

HR_HD std::uint8_t label_value(const LabelKernel& k, std::int32_t row, std::int32_t column) {
  const TapCoordinates at = taps_of(k.placement, row, column);
  return static_cast<std::uint8_t>(math::nearest_byte(k.window, at.y, at.x, k.outside));
}

/// One value of one plane of `from`, blurred along its row; and along its column. All rows are
/// finished before any column.
HR_HD float blurred_along_row(const BlurKernel& k, const float* from, std::int32_t row,
                              std::int32_t column) {
  return blurred(k, from + std::int64_t{row} * k.width, 1, k.width, column);
}
HR_HD float blurred_along_column(const BlurKernel& k, const float* from, std::int32_t row,
                                 std::int32_t column) {
  return blurred(k, from + column, k.width, k.height, row);
}

}  // namespace headrace::transform
